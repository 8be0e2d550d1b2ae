Feature: Orders counter
  Every shop's orders and turnover in ten minutes are printed once, when no order of these ten minutes can come any more:
  ten minutes after the latest order.

  Background:
    Given the day is 2026-03-02
    And a topic "orders"
    And the orders counter is running

  Scenario: Ten minutes are printed when they are over
    When these events arrive in "orders":
      | order_id | shop  | amount | order_time |
      | A1       | north | 10.0   | 08:01      |
      | A2       | north | 5.5    | 08:09      |
      | A3       | south | 20.0   | 08:02      |
    Then batch 1 is empty
    # 08:09 - 10 minutes
    And batch 2 is empty, the watermark having moved to 07:59
    When this event arrives in "orders":
      | order_id | shop  | amount | order_time |
      | A4       | south | 1.0    | 08:21      |
    Then batch 3 is empty
    # 08:21 - 10 minutes
    And the watermark is 08:11
    And batch 4 is printed as:
      """
      -------------------------------------------
      Batch: 4
      -------------------------------------------
      +------------------------------------------+-----+------+--------+
      |window                                    |shop |orders|turnover|
      +------------------------------------------+-----+------+--------+
      |{2026-03-02 08:00:00, 2026-03-02 08:10:00}|south|1     |20.0    |
      |{2026-03-02 08:00:00, 2026-03-02 08:10:00}|north|2     |15.5    |
      +------------------------------------------+-----+------+--------+
      """

  Scenario: An order that comes too late is not counted
    When this event arrives in "orders":
      | order_id | shop  | amount | order_time |
      | A1       | north | 10.0   | 08:30      |
    # 08:30 - 10 minutes
    Then the watermark is 08:20
    When these events arrive in "orders":
      | order_id | shop  | amount | order_time | why                                    |
      | A2       | north | 1.0    | 08:19      | its ten minutes end at 08:20: too late |
      | A3       | north | 2.0    | 08:20      | its ten minutes end at 08:30: in time  |
    Then 1 row was dropped by the watermark
    And the state holds 2 rows

  Scenario: What was printed is not printed again after a restart
    When these events arrive in "orders":
      | order_id | shop  | amount | order_time |
      | A1       | north | 10.0   | 08:01      |
    And the orders counter is started again
    And this event arrives in "orders":
      | order_id | shop  | amount | order_time |
      | A2       | north | 1.0    | 08:21      |
    Then batch 4 is:
      | window         | shop  | orders | turnover |
      | 08:00 to 08:10 | north | 1      | 10.0     |
