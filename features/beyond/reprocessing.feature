@reprocessing
Feature: Reprocessing a past range, for the one who has to do it
  The stream published a window when the watermark closed it, and events came later. This is how
  the window is counted again: look first, then publish, beside the running stream.

  Background:
    Given the day is 2025-09-04
    And the time zone is Europe/Paris
    And a topic "visits"
    And a topic "visits_counter"

  Rule: Look first: a dry run shows what would change and changes nothing

    Scenario: Two late visits, seen before they are published
      Given the data synchronization is running
      And the visits counter is running
      When these events arrive in "visits":
        | event_id | visit_id | event_time |
        | click-1  | 1        | 07:00      |
        | click-2  | 1        | 07:15      |
      And this event arrives in "visits":
        | event_id | visit_id | event_time | why                       |
        | click-3  | 1        | 07:45      | closes 07:00 and 07:10    |
      And these events arrive in "visits":
        | event_id | visit_id | event_time | why                       |
        | click-4  | 1        | 07:03      | late                      |
        | click-5  | 1        | 07:04      | late                      |
      Then "visits_counter" receives exactly:
        """
        {"window":{"start":"2025-09-04T07:00:00.000+02:00","end":"2025-09-04T07:10:00.000+02:00"},"count":1}
        {"window":{"start":"2025-09-04T07:10:00.000+02:00","end":"2025-09-04T07:20:00.000+02:00"},"count":1}
        """
      And the watermark of the visits counter dropped 1 row
      When the visits counter reprocessing runs with "2025-09-04T07:00 2025-09-04T07:20 --dry-run"
      Then it prints:
        """
        │ 2025-09-04T07:00+02:00 to 2025-09-04T07:10+02:00 │ 1 │ stream │ 3 │ +2 │
        │ 2025-09-04T07:10+02:00 to 2025-09-04T07:20+02:00 │ 1 │ stream │ 1 │ +0 │
        """
      And "visits_counter" receives nothing more
      When the visits counter reprocessing runs with "2025-09-04T07:00 2025-09-04T07:20"
      Then "visits_counter" receives these records:
        | key                                       | kind        | table_version | value                                                                                                |
        | 2025-09-04T05:00:00Z/2025-09-04T05:10:00Z | reprocessed | 3             | {"window":{"start":"2025-09-04T07:00:00.000+02:00","end":"2025-09-04T07:10:00.000+02:00"},"count":3} |
        | 2025-09-04T05:10:00Z/2025-09-04T05:20:00Z | reprocessed | 3             | {"window":{"start":"2025-09-04T07:10:00.000+02:00","end":"2025-09-04T07:20:00.000+02:00"},"count":1} |
      # Once more: a consumer that keeps the latest of each key does not notice.
      When the visits counter reprocessing runs with "2025-09-04T07:00 2025-09-04T07:20"
      Then the latest record of each key in "visits_counter" is:
        """
        {"window":{"start":"2025-09-04T07:00:00.000+02:00","end":"2025-09-04T07:10:00.000+02:00"},"count":3}
        {"window":{"start":"2025-09-04T07:10:00.000+02:00","end":"2025-09-04T07:20:00.000+02:00"},"count":1}
        """
      And the visits counter is still running
      And the data synchronization is still running
      And the table "visits_table" is at version 3

  Rule: A range is whole windows, or it is refused with the nearest that is

    Scenario Outline: <why>
      Given these events in "visits":
        | event_id | visit_id | event_time |
        | click-1  | 1        | 07:00      |
      And the data synchronization is running
      When the visits counter reprocessing runs with "<start> <end>"
      Then it is refused with "<refusal>"
      And the table "visits_table" is at version 0

      Examples:
        | why                          | start                     | end                       | refusal                                                                 |
        | it cuts a window             | 2025-09-04T07:03          | 2025-09-04T07:10          | the nearest whole range is 2025-09-04T07:00:00 to 2025-09-04T07:10:00   |
        | it ends before it starts     | 2025-09-04T07:10          | 2025-09-04T07:00          | not after its start                                                     |
        | it is no time                | seven                     | 2025-09-04T07:00          | 'seven' is not a time                                                   |
        | clocks skipped it            | 2025-03-30T02:10          | 2025-03-30T04:00          | never was in Europe/Paris                                               |
        | clocks showed it twice       | 2025-10-26T02:10          | 2025-10-26T04:00          | was twice in Europe/Paris                                               |

  Rule: An empty range publishes nothing

    Scenario: An hour without visits
      Given these events in "visits":
        | event_id | visit_id | event_time |
        | click-1  | 1        | 07:00      |
      And the data synchronization is running
      When the visits counter reprocessing runs with "2025-09-04T09:00 2025-09-04T10:00"
      Then "visits_counter" receives nothing
      And the table "visits_table" is at version 0

  Rule: Midnight and the end of summer time are times like any other

    Scenario: A range across a day
      Given these events in "visits":
        | event_id | visit_id | event_time          |
        | click-1  | 1        | 2025-09-04T23:55:00 |
        | click-2  | 1        | 2025-09-05T00:05:00 |
      And the data synchronization is running
      When the visits counter reprocessing runs with "2025-09-04T23:50 2025-09-05T00:10"
      Then "visits_counter" receives exactly:
        """
        {"window":{"start":"2025-09-04T23:50:00.000+02:00","end":"2025-09-05T00:00:00.000+02:00"},"count":1}
        {"window":{"start":"2025-09-05T00:00:00.000+02:00","end":"2025-09-05T00:10:00.000+02:00"},"count":1}
        """
      And the table "visits_table" is at version 0

    # On 2025-10-26 clocks in Paris showed 02:00 to 03:00 twice: first at +02:00, then at +01:00.
    Scenario: A range in the hour that happens twice
      Given these events in "visits":
        | event_id | visit_id | event_time                |
        | click-1  | 1        | 2025-10-26T02:05:00+02:00 |
        | click-2  | 1        | 2025-10-26T02:05:00+01:00 |
        | click-3  | 1        | 2025-10-26T02:06:00+01:00 |
      And the data synchronization is running
      When the visits counter reprocessing runs with "2025-10-26T02:00:00+02:00 2025-10-26T02:10:00+01:00"
      Then "visits_counter" receives exactly:
        """
        {"window":{"start":"2025-10-26T02:00:00.000+02:00","end":"2025-10-26T02:10:00.000+02:00"},"count":1}
        {"window":{"start":"2025-10-26T02:00:00.000+01:00","end":"2025-10-26T02:10:00.000+01:00"},"count":2}
        """
      And the table "visits_table" has these partitions:
        """
        year=2025/month=10/day=26/hour=0
        year=2025/month=10/day=26/hour=1
        """

  Rule: What the stream could not read is not counted here either

    Scenario: A dated record without a visit is kept in the table and left out of the count
      Given these lines in "visits":
        """
        {"event_id": "click-1", "visit_id": 1, "event_time": "2025-09-04T07:00:00.000000"}
        {"event_id": "click-2", "visit_id": "one", "event_time": "2025-09-04T07:01:00.000000"}
        """
      And the data synchronization is running
      When the visits counter reprocessing runs with "2025-09-04T07:00 2025-09-04T07:10"
      Then "visits_counter" receives exactly:
        """
        {"window":{"start":"2025-09-04T07:00:00.000+02:00","end":"2025-09-04T07:10:00.000+02:00"},"count":1}
        """
      And the table "visits_table" holds:
        | event_time | offset |
        | 07:00      | 0      |
        | 07:01      | 1      |
