Feature: Order router
  Good orders go on to one topic, and the big ones among them to another as well.

  Background:
    Given a topic "orders"
    And a topic "good-orders"
    And a topic "big-orders"
    And an order is big from 1000 on
    And the order router is running

  Scenario: A big order goes to both topics
    When the north shop sells for 20 and 1000
    Then "good-orders" receives exactly:
      """
      {"order_id":"north-1","shop":"north","amount":20.0}
      {"order_id":"north-2","shop":"north","amount":1000.0}
      """
    And "big-orders" receives these records:
      | key     | value                                                 |
      | north-2 | {"order_id":"north-2","shop":"north","amount":1000.0} |

  Scenario: An order without a price goes nowhere
    When these lines arrive in "orders":
      """
      {"order_id": "A1", "shop": "south", "amount": 0}
      no order at all
      """
    Then "good-orders" receives nothing
    And "big-orders" receives nothing
    And batch 1 is:
      | order_id | shop  | amount |
      | A1       | south | 0.0    |
      | null     | null  | null   |

  Scenario: A batch that was sent and not noted as sent is sent again
    Given the order router will break after the sink of batch 1
    When the north shop sells for 20
    Then the order router has failed with "broke after batch 1"
    When the order router is started again
    Then "good-orders" receives exactly:
      """
      {"order_id":"north-1","shop":"north","amount":20.0}
      {"order_id":"north-1","shop":"north","amount":20.0}
      """
