@batch_reprocessor
Feature: Batch reprocessor on Delta Lake
  A streaming job counts visits per window and publishes each window once, when the watermark has
  closed it. What comes later is lost to the stream, but not lost: a second job copies every raw
  visit to a Delta table, and a batch job with the same business logic counts any past window anew,
  without interrupting the stream.

  Windows are 10 minutes, the watermark 20 minutes behind the latest visit, the time zone Europe/Paris.

  Background:
    Given the day is 2025-09-04
    And the time zone is Europe/Paris
    And a topic "visits"
    And a topic "visits_counter"

  Rule: The stream publishes what came in time, the table keeps what came at all

    @walkthrough
    Scenario: The walkthrough: two late visits, and a window that is counted again
      Given the data synchronization is running
      And the visits counter is running
      # Both jobs start on an empty topic: version 0 of the table is the first, empty, micro-batch.
      Then the table "visits_table" is at version 0
      When these events arrive in "visits":
        | event_id | visit_id | event_time | page  |
        | click-1  | 1        | 07:00      | home  |
        | click-2  | 1        | 07:01      | index |
        | click-3  | 1        | 07:02      | page  |
      Then the log of the table "visits_table" lists:
        """
        00000000000000000000.crc
        00000000000000000000.json
        00000000000000000001.crc
        00000000000000000001.json
        _staged_commits
        """
      And "visits_counter" receives nothing
      And the watermark of the visits counter is 06:42
      # 07:35 - 20 minutes = 07:15 closes the window that ended at 07:10.
      When these events arrive in "visits":
        | event_id | visit_id | event_time | page    |
        | click-4  | 1        | 07:33      | home-2  |
        | click-5  | 1        | 07:34      | index-2 |
        | click-6  | 1        | 07:35      | page-2  |
      Then the table "visits_table" is at version 2
      And the watermark of the visits counter is 07:15
      And "visits_counter" receives exactly:
        """
        {"window":{"start":"2025-09-04T07:00:00.000+02:00","end":"2025-09-04T07:10:00.000+02:00"},"count":3}
        """
      # 08:08 - 20 minutes = 07:48 closes the next one.
      When these events arrive in "visits":
        | event_id | visit_id | event_time | page    |
        | click-7  | 1        | 08:06      | home-3  |
        | click-8  | 1        | 08:07      | index-3 |
        | click-9  | 1        | 08:08      | page-3  |
      Then "visits_counter" receives exactly:
        """
        {"window":{"start":"2025-09-04T07:30:00.000+02:00","end":"2025-09-04T07:40:00.000+02:00"},"count":3}
        """
      And the table "visits_table" is at version 3
      And the watermark of the visits counter is 07:48
      And the watermark of the visits counter dropped 0 rows
      When these events arrive in "visits":
        | event_id  | visit_id | event_time | page | why                                               |
        | click-300 | 1        | 07:03      | page | the watermark closed its window when it was 07:15 |
        | click-301 | 1        | 07:04      | page | the same window                                   |
      Then the table "visits_table" is at version 4
      And "visits_counter" receives nothing more
      # Spark counts rows where they reach the state: two visits of one window, in one task, are one row there.
      And the watermark of the visits counter dropped 1 row
      And the table "visits_table" holds:
        | event_time | value                                                                                                | partition | offset |
        | 07:00      | {"event_id": "click-1", "visit_id": 1, "event_time": "2025-09-04T07:00:00.000000", "page": "home"}    | 0         | 0      |
        | 07:01      | {"event_id": "click-2", "visit_id": 1, "event_time": "2025-09-04T07:01:00.000000", "page": "index"}   | 0         | 1      |
        | 07:02      | {"event_id": "click-3", "visit_id": 1, "event_time": "2025-09-04T07:02:00.000000", "page": "page"}    | 0         | 2      |
        | 07:33      | {"event_id": "click-4", "visit_id": 1, "event_time": "2025-09-04T07:33:00.000000", "page": "home-2"}  | 0         | 3      |
        | 07:34      | {"event_id": "click-5", "visit_id": 1, "event_time": "2025-09-04T07:34:00.000000", "page": "index-2"} | 0         | 4      |
        | 07:35      | {"event_id": "click-6", "visit_id": 1, "event_time": "2025-09-04T07:35:00.000000", "page": "page-2"}  | 0         | 5      |
        | 08:06      | {"event_id": "click-7", "visit_id": 1, "event_time": "2025-09-04T08:06:00.000000", "page": "home-3"}  | 0         | 6      |
        | 08:07      | {"event_id": "click-8", "visit_id": 1, "event_time": "2025-09-04T08:07:00.000000", "page": "index-3"} | 0         | 7      |
        | 08:08      | {"event_id": "click-9", "visit_id": 1, "event_time": "2025-09-04T08:08:00.000000", "page": "page-3"}  | 0         | 8      |
        | 07:03      | {"event_id": "click-300", "visit_id": 1, "event_time": "2025-09-04T07:03:00.000000", "page": "page"}  | 0         | 9      |
        | 07:04      | {"event_id": "click-301", "visit_id": 1, "event_time": "2025-09-04T07:04:00.000000", "page": "page"}  | 0         | 10     |
      # Hours are UTC's, two behind Paris in summer.
      And the table "visits_table" has these partitions:
        """
        year=2025/month=9/day=4/hour=5
        year=2025/month=9/day=4/hour=6
        """
      When the visits counter reprocessing runs with "2025-09-04T07:00:00.000 2025-09-04T07:10:00.000"
      Then "visits_counter" receives exactly:
        """
        {"window":{"start":"2025-09-04T07:00:00.000+02:00","end":"2025-09-04T07:10:00.000+02:00"},"count":5}
        """
      And the visits counter is still running
      And the data synchronization is still running
      And the table "visits_table" is at version 4

  Rule: A range is half-open: its end belongs to the next one

    # The document's original takes both ends in, and counts a visit at 07:10:00 with the window before.
    Scenario Outline: A visit at 07:10:00 is not in 07:00 to 07:10
      Given these events in "visits":
        | event_id | visit_id | event_time      | page |
        | click-1  | 1        | 07:00:00        | home |
        | click-2  | 1        | 07:09:59.999999 | home |
        | click-3  | 1        | 07:10:00        | home |
      And the data synchronization is running
      When the visits counter reprocessing runs with "2025-09-04T<start> 2025-09-04T<end>"
      Then "visits_counter" receives exactly:
        """
        {"window":{"start":"2025-09-04T<start>:00.000+02:00","end":"2025-09-04T<end>:00.000+02:00"},"count":<count>}
        """
      And the table "visits_table" is at version 0

      Examples:
        | start | end   | count |
        | 07:00 | 07:10 | 2     |
        | 07:10 | 07:20 | 1     |
