Feature: Session totals
  What a customer has spent is told after every order, and once more when half an hour has passed without one.

  Scenario: A visit adds up, and is over in the end
    Given the day is 2026-03-02
    And a topic "orders"
    And these events in "orders":
      | customer | amount | order_time |
      | Ann      | 10.0   | 08:00      |
      | Ann      | 2.5    | 08:05      |
    And the session totals is running
    Then batch 0 is:
      | customer | orders | total | is_over |
      | Ann      | 2      | 12.5  | false   |
    And batch 1 is empty, the watermark having moved to 07:55
    When this event arrives in "orders":
      | customer | amount | order_time |
      | Bob      | 1.0    | 08:50      |
    Then batch 2 is:
      | customer | orders | total | is_over |
      | Bob      | 1      | 1.0   | false   |
    # 08:50 - 10 minutes is past Ann's 08:05 + 30 minutes
    And batch 3 is:
      | customer | orders | total | is_over |
      | Ann      | 2      | 12.5  | true    |
