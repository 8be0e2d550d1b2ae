Feature: Payments join
  An order goes out with its payment, or without one when no payment can come any more.

  Background:
    Given the day is 2026-03-02
    And a topic "orders"
    And a topic "payments"
    And a topic "paid-orders"
    And the payments join is running

  Scenario: A payment within half an hour finds its order
    When this event arrives in "orders":
      | order_id | amount | order_time |
      | A1       | 10.0   | 08:00      |
    Then "paid-orders" receives nothing
    When this event arrives in "payments":
      | order_id | method | paid_at |
      | A1       | card   | 08:30   |
    Then "paid-orders" receives exactly:
      """
      {"order_id":"A1","amount":10.0,"method":"card","paid":true}
      """

  Scenario: An order without a payment goes out when both watermarks have passed its half hour
    When these events arrive in "orders":
      | order_id | amount | order_time |
      | A1       | 10.0   | 08:00      |
      | A2       | 20.0   | 09:00      |
    And this event arrives in "payments":
      | order_id | method | paid_at | why                                |
      | A2       | cash   | 09:10   | and 09:10 - 20 minutes is 08:50    |
    Then "paid-orders" receives exactly:
      """
      {"order_id":"A2","amount":20.0,"method":"cash","paid":true}
      {"order_id":"A1","amount":10.0,"paid":false}
      """
    # the smaller of 09:00 - 10 minutes and 09:10 - 20 minutes
    And the watermark is 08:50
