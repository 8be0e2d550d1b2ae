Feature: Unique orders
  A till that gets no answer sends its order again. Every order goes on once; what came in is counted.

  Scenario: An order that is sent twice goes on once
    Given the day is 2026-03-02
    And a topic "orders"
    And a topic "unique-orders"
    And these events in "orders":
      | order_id | shop  | amount | sent_at |
      | A1       | north | 10.0   | 08:00   |
      | A1       | north | 10.0   | 08:01   |
      | A2       | south | 7.0    | 08:02   |
    And the unique orders is running
    Then "unique-orders" receives these records:
      | key   | value                           | source        |
      | north | {"order_id":"A1","amount":10.0} | unique-orders |
      | south | {"order_id":"A2","amount":7.0}  | unique-orders |
    And batch 0 of the query "arrived" of the unique orders is:
      | shop  | arrived | different |
      | north | 2       | 1         |
      | south | 1       | 1         |
    When this event arrives in "orders":
      | order_id | shop  | amount | sent_at |
      | A1       | north | 10.0   | 08:20   |
    Then "unique-orders" receives nothing more
    And batch 1 of the second query of the unique orders is:
      | shop  | arrived | different |
      | north | 3       | 1         |
      | south | 1       | 1         |
