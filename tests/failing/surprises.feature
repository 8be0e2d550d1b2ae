Feature: Streams that do something else than the feature says

  Background:
    Given the day is 2025-09-04
    And a topic "visits"

  Scenario: wrong count
    Given these events in "visits":
      | visit_id | event_time |
      | 1        | 07:00      |
    And the visits windows counter is running
    Then batch 0 is:
      | window         | count |
      | 07:00 to 07:10 | 2     |

  Scenario: batch that has not come
    Given the visits windows counter is running
    Then batch 7 is empty

  Scenario: wrong watermark
    Given these events in "visits":
      | visit_id | event_time |
      | 1        | 07:00      |
    And the visits windows counter is running
    Then batch 1 is empty, the watermark having moved to 06:45

  Scenario: output that nobody mentioned
    Given these events in "visits":
      | visit_id | event_time |
      | 1        | 07:00      |
    And the visits windows counter is running
    Then the watermark is 06:40

  Scenario: drop that nobody mentioned
    Given these events in "visits":
      | visit_id | event_time |
      | 1        | 07:00      |
    And the visits windows counter is running
    When this event arrives in "visits":
      | visit_id | event_time |
      | 1        | 05:00      |
    Then batch 0 is:
      | window         | count |
      | 07:00 to 07:10 | 1     |

  Scenario: bad record that nobody mentioned
    Given the visits windows counter is running
    When this line arrives in "visits":
      """
      not JSON
      """
    Then batch 0 is empty

  Scenario: failure that nobody mentioned
    Given these lines in "visits":
      """
      not JSON
      """
    And the visits windows counter is running with "--on-bad-record fail"
