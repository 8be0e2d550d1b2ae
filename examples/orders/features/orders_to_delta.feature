Feature: Orders to Delta
  The table shop.orders has the latest state of every order; shop.order_changes has every change.

  Background:
    Given the day is 2026-03-02
    And a topic "order-changes"

  Scenario: The latest change wins, in whatever order they come
    Given the orders to delta is running
    When these events arrive in "order-changes":
      | order_id | status  | amount | changed_at |
      | A1       | paid    | 10.0   | 08:05      |
      | A1       | ordered | 10.0   | 08:00      |
      | A2       | ordered | 7.0    | 08:01      |
    Then the table "shop.orders" holds:
      | order_id | status  | amount | changed_at |
      | A1       | paid    | 10.0   | 08:05      |
      | A2       | ordered | 7.0    | 08:01      |
    When these events arrive in "order-changes":
      | order_id | status    | amount | changed_at | why                             |
      | A1       | ordered   | 10.0   | 08:02      | older than what the table has   |
      | A2       | cancelled | 7.0    | 08:09      | newer: takes the order's place  |
    Then the table "shop.orders" holds:
      | order_id | status    |
      | A1       | paid      |
      | A2       | cancelled |
    And the table "shop.order_changes" holds:
      | order_id | status    |
      | A1       | paid      |
      | A1       | ordered   |
      | A2       | ordered   |
      | A1       | ordered   |
      | A2       | cancelled |
    And the table "shop.status_counts" holds:
      | status    | count |
      | paid      | 1     |
      | ordered   | 2     |
      | ordered   | 1     |
      | cancelled | 1     |

  Scenario: A table that is there already is added to
    Given the table "shop.order_changes" with these rows:
      | order_id | status  | amount | changed_at |
      | A0       | ordered | 1.0    | 07:00      |
    And the orders to delta is running
    When this event arrives in "order-changes":
      | order_id | status  | amount | changed_at |
      | A1       | ordered | 10.0   | 08:00      |
    Then the table "shop.order_changes" holds:
      | order_id |
      | A0       |
      | A1       |
    And the table "shop.orders" holds:
      | order_id |
      | A1       |
    And the table "shop.status_counts" holds:
      | status  | count |
      | ordered | 1     |
