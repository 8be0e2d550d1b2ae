@bad_records
Feature: Bad records
  A record that cannot be read is set aside, whole, in the dead-letter topic, with headers that tell
  where it came from and why. The good records beside it are counted as if it were not there.
  A job that would rather stop is told `--on-bad-record fail`.

  Background:
    Given the day is 2025-09-04
    And a topic "visits"
    And a topic "visits_counter"
    And a topic "browser-stats-stateless"
    And a topic "browser-stats-stateful"

  Rule: Every kind of bad record is set aside with its reason

    Scenario: One of each kind between two good ones
      Given these lines in "visits":
        """
        {"event_id": "click-1", "visit_id": 1, "event_time": "2025-09-04T07:00:00.000000"}
        click-2
        [1, 2]
        {"event_id": "click-3", "visit_id": "one", "event_time": "2025-09-04T07:00:00.000000"}
        {"event_id": "click-4", "event_time": "2025-09-04T07:00:00.000000"}
        {"event_id": "click-5", "visit_id": 1}
        {"event_id": "click-6", "visit_id": 1, "event_time": "07:00"}
        {"event_id": "click-7", "visit_id": 1, "event_time": "2025-09-31T07:00:00.000000"}
        {"event_id": "click-8", "visit_id": 1, "event_time": "2025-09-04T07:05:00.000000"}
        """
      And the visits windows counter is running
      Then batch 0 is:
        | window         | count |
        | 07:00 to 07:10 | 2     |
      And "visits-rejected" receives these records:
        | topic  | partition | offset | reason                                                 | value                                                                                  |
        | visits | 0         | 1      | the value is not JSON                                  | click-2                                                                                |
        | visits | 0         | 2      | the value is JSON but not an object                    | [1, 2]                                                                                 |
        | visits | 0         | 3      | wrong type: visit_id is not bigint                     | {"event_id": "click-3", "visit_id": "one", "event_time": "2025-09-04T07:00:00.000000"} |
        | visits | 0         | 4      | visit_id is missing                                    | {"event_id": "click-4", "event_time": "2025-09-04T07:00:00.000000"}                    |
        | visits | 0         | 5      | event_time is missing                                  | {"event_id": "click-5", "visit_id": 1}                                                 |
        | visits | 0         | 6      | event_time is not a time: 07:00                        | {"event_id": "click-6", "visit_id": 1, "event_time": "07:00"}                          |
        | visits | 0         | 7      | event_time is not a time: 2025-09-31T07:00:00.000000   | {"event_id": "click-7", "visit_id": 1, "event_time": "2025-09-31T07:00:00.000000"}     |

    Scenario: Values that no line can hold
      Given the visits windows counter is running
      When this value arrives in "visits": null
      And this value arrives in "visits": \xff\xfe
      And this value arrives in "visits": 1000000 bytes
      Then "visits-rejected" receives these records:
        | offset | reason                                         | value         |
        | 0      | the value is null                              | null          |
        | 1      | the value is not valid UTF-8                   | \xff\xfe      |
        | 2      | the value has 1000000 bytes, more than 524288  | 1000000 bytes |
      When this event arrives in "visits":
        | event_id | visit_id | event_time |
        | click-1  | 1        | 07:00      |
      # batch 0 was empty, and each of the three values had a batch of its own
      Then batch 4 is:
        | window         | count |
        | 07:00 to 07:10 | 1     |

  Rule: Every job that reads JSON sets bad records aside

    Scenario Outline: The <job>
      Given these lines in "visits":
        """
        not JSON
        """
      And the <job> is running
      Then "visits-rejected" receives these records:
        | topic  | offset | reason                | value    |
        | visits | 0      | the value is not JSON | not JSON |
      And the <job> is still running

      Examples:
        | job                     |
        | early writer            |
        | visits windows counter  |
        | visits counter          |
        | browser stats stateless |
        | browser stats stateful  |

    Scenario: The micro batch consumer
      Given these lines in "visits":
        """
        {"visit_id": "140444734049152_0", "event_time": "2024-01-01T01:00:00"}
        """
      And the micro batch consumer is running with "--trigger '1 second'"
      Then "visits-rejected" receives these records:
        | topic  | offset | reason          |
        | visits | 0      | page is missing |
      And the micro batch consumer is still running

    Scenario: The data synchronization keeps what it can date and sets the rest aside
      Given these lines in "visits":
        """
        {"event_time": "2025-09-04T07:00:00.000000", "visit_id": "of the wrong type"}
        {"visit_id": 1}
        not JSON
        """
      And the data synchronization is running
      Then the table "visits_table" holds:
        | event_time | offset |
        | 07:00      | 0      |
      And "visits-rejected" receives these records:
        | offset | reason                |
        | 1      | event_time is missing |
        | 2      | the value is not JSON |

  Rule: A job that is told to fail stops at the first bad record

    Scenario Outline: The <job> fails
      Given these lines in "visits":
        """
        not JSON
        """
      And the <job> is running with "--on-bad-record fail"
      Then the <job> has failed with "bad record in topic visits, partition 0, offset 0: the value is not JSON"

      Examples:
        | job                     |
        | early writer            |
        | visits windows counter  |
        | visits counter          |
        | browser stats stateless |
        | browser stats stateful  |

    Scenario Outline: The <job> fails, with options of its own
      Given these lines in "visits":
        """
        not JSON
        """
      And the <job> is running with "--on-bad-record fail <options>"
      Then the <job> has failed with "bad record in topic visits, partition 0, offset 0: the value is not JSON"

      Examples:
        | job                  | options                |
        | micro batch consumer | --trigger '1 second'   |
        | data synchronization | --table another_table  |

    Scenario: Nothing is lost: the job goes on where it stopped once it may set aside
      Given these lines in "visits":
        """
        {"event_id": "click-1", "visit_id": 1, "event_time": "2025-09-04T07:00:00.000000"}
        not JSON
        """
      And the visits windows counter is running with "--on-bad-record fail"
      Then the visits windows counter has failed with "partition 0, offset 1: the value is not JSON"
      When the visits windows counter starts with "--on-bad-record dead-letter"
      Then batch 0 is:
        | window         | count |
        | 07:00 to 07:10 | 1     |
      And "visits-rejected" receives these records:
        | offset | reason                |
        | 1      | the value is not JSON |
