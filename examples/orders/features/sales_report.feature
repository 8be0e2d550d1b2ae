Feature: Sales report
  Every order is reported with its product's price, in a Delta table, and as CSV where that is asked for.

  Background:
    Given a table "/data/products" with these rows:
      | sku  | price:double |
      | hat  | 20.0         |
      | pear | 0.3          |
    And a topic "orders"
    And these events in "orders":
      | order_id | sku    | pieces |
      | A1       | hat    | 1      |
      | A2       | pear   | 3      |
      | A3       | secret | 1      |

  Scenario: Once, with an export
    When the sales report runs with "--once --export /data/export"
    Then it prints "3 lines in the report"
    And the table "/data/reports/sales" holds:
      | order_id | sku    | pieces | total |
      | A1       | hat    | 1      | 20.0  |
      | A2       | pear   | 3      | 0.9   |
      | A3       | secret | 1      | null  |
    And the table "/data/reports/sales" is at version 0
    And the files in "/data/export" hold:
      | order_id | total |
      | A1       | 20.0  |
      | A2       | 0.9   |
      | A3       | null  |

  Scenario: An export that makes no sense is refused
    When the sales report runs with "--export /data/export"
    Then it is refused with "--export needs --once"

  Scenario: Running, it reports what comes
    Given the sales report is running
    Then the table "/data/reports/sales" holds:
      | order_id |
      | A1       |
      | A2       |
      | A3       |
    When this event arrives in "orders":
      | order_id | sku | pieces |
      | A4       | hat | 2      |
    Then the table "/data/reports/sales" holds:
      | order_id | total |
      | A1       | 20.0  |
      | A2       | 0.9   |
      | A3       | null  |
      | A4       | 40.0  |
