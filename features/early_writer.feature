@early_writer
Feature: Early writer
  A visit's count goes out after every event, long before the visit is over,
  and once more, marked finished, when its time has run out.

  The watermark is 15 minutes behind the latest event. A visit's time has run out
  when the watermark has moved on by 15 minutes without a new event of the visit.

  Background:
    Given the day is 2025-09-04
    And a topic "visits" with 2 partitions

  Rule: Every event is answered at once, every visit is finished once

    # The document sends five events of two visits by hand, and then a stop event. Whenever an event moves
    # the watermark, Spark runs one more batch without data, to see whose time is over.
    # The first event is there before the job starts: on an empty topic batch 0 would be empty, and every
    # number one more than in the document.
    @walkthrough
    Scenario: The walkthrough: two visits, counted as they happen
      Given these events in "visits":
        | event_id | visit_id | event_time |
        | click-1  | 1        | 07:00      |
      And the early writer is running
      Then batch 0 is:
        | visit_id | visited_pages | is_finished |
        | 1        | 1             | false       |
      And batch 0 is printed as:
        """
        -------------------------------------------
        Batch: 0
        -------------------------------------------
        +--------+-------------+-----------+
        |visit_id|visited_pages|is_finished|
        +--------+-------------+-----------+
        |1       |1            |false      |
        +--------+-------------+-----------+
        """
      # 07:00 - 15 minutes
      And batch 1 is empty, the watermark having moved to 06:45
      When this event arrives in "visits":
        | event_id | visit_id | event_time |
        | click-2  | 1        | 07:01      |
      Then batch 2 is:
        | visit_id | visited_pages | is_finished |
        | 1        | 2             | false       |
      And batch 3 is empty, the watermark having moved to 06:46
      When this event arrives in "visits":
        | event_id | visit_id | event_time |
        | click-3  | 1        | 07:02      |
      Then batch 4 is:
        | visit_id | visited_pages | is_finished |
        | 1        | 3             | false       |
      And batch 5 is empty, the watermark having moved to 06:47
      # click-4 is older than click-3: it is counted, but moves no watermark, and no empty batch follows.
      When this event arrives in "visits":
        | event_id | visit_id | event_time |
        | click-4  | 1        | 07:00      |
      Then batch 6 is:
        | visit_id | visited_pages | is_finished |
        | 1        | 4             | false       |
      When this event arrives in "visits":
        | event_id | visit_id | event_time |
        | click-1  | 2        | 07:10      |
      Then batch 7 is:
        | visit_id | visited_pages | is_finished |
        | 2        | 1             | false       |
      And batch 8 is empty, the watermark having moved to 06:55
      And the state holds 2 rows
      # The event that ends the demo is of visit 1 itself, and counts: the document's batch 9.
      When this event arrives in "visits":
        | event_id | visit_id | event_time                 |
        | stop     | 1        | 2026-12-29T07:49:15.189575 |
      Then batch 9 is:
        | visit_id | visited_pages | is_finished |
        | 1        | 5             | false       |
      And batch 10 is:
        | visit_id | visited_pages | is_finished |
        | 2        | 1             | true        |
        | 1        | 5             | true        |
      And the watermark is 2026-12-29 07:34:15.189
      And the state holds 0 rows
      And no row was dropped
      When the early writer is stopped
      Then there is no batch 11

  Rule: A batch answers once for each visit, however many of its events it has

    Scenario: Three events of one visit and one of another in one batch
      Given these events in "visits":
        | event_id | visit_id | event_time |
        | click-1  | 1        | 07:00      |
        | click-2  | 1        | 07:01      |
        | click-3  | 1        | 07:02      |
        | click-1  | 2        | 07:02      |
      And the early writer is running
      Then batch 0 is:
        | visit_id | visited_pages | is_finished |
        | 1        | 3             | false       |
        | 2        | 1             | false       |
      And batch 1 is empty, the watermark having moved to 06:47

  Rule: A visit that comes back after it was finished starts again from 1

    # The document's original keeps the count of a finished visit for ever: this job forgets it.
    Scenario: Finished, forgotten, back
      Given these events in "visits":
        | event_id | visit_id | event_time |
        | click-1  | 1        | 07:00      |
        | click-2  | 1        | 07:01      |
      And the early writer is running with "--watermark '5 minutes'"
      # There is no watermark yet: visit 1 is over at 07:01 + 15 minutes = 07:16.
      Then batch 0 is:
        | visit_id | visited_pages | is_finished |
        | 1        | 2             | false       |
      And batch 1 is empty, the watermark having moved to 06:56
      When this event arrives in "visits":
        | event_id | visit_id | event_time |
        | click-1  | 2        | 07:15      |
      Then batch 2 is:
        | visit_id | visited_pages | is_finished |
        | 2        | 1             | false       |
      And batch 3 is empty, the watermark having moved to 07:10
      # This moves the watermark to 07:19, past the end of visit 1. Visit 2 has until 07:10 + 15 minutes.
      When this event arrives in "visits":
        | event_id | visit_id | event_time |
        | click-2  | 2        | 07:24      |
      Then batch 4 is:
        | visit_id | visited_pages | is_finished |
        | 2        | 2             | false       |
      And batch 5 is:
        | visit_id | visited_pages | is_finished |
        | 1        | 2             | true        |
      When this event arrives in "visits":
        | event_id | visit_id | event_time |
        | click-3  | 1        | 07:25      |
      Then batch 6 is:
        | visit_id | visited_pages | is_finished |
        | 1        | 1             | false       |

  Rule: An event behind the watermark is not counted

    Scenario: One event too late, one just in time
      Given these events in "visits":
        | event_id | visit_id | event_time |
        | click-1  | 1        | 07:00      |
      And the early writer is running
      Then batch 0 is:
        | visit_id | visited_pages | is_finished |
        | 1        | 1             | false       |
      And batch 1 is empty, the watermark having moved to 06:45
      When these events arrive in "visits":
        | event_id | visit_id | event_time | why                       |
        | click-2  | 1        | 06:44      | behind the watermark      |
        | click-3  | 1        | 06:46      | late, but not behind it   |
      Then batch 2 is:
        | visit_id | visited_pages | is_finished |
        | 1        | 2             | false       |
      And 1 row was dropped by the watermark

  Rule: A restart in the middle keeps counts and timers

    Scenario: Stopped between two events, finished after the restart
      Given these events in "visits":
        | event_id | visit_id | event_time |
        | click-1  | 1        | 07:00      |
        | click-1  | 2        | 07:00      |
      And the early writer is running with "--watermark '5 minutes'"
      Then batch 0 is:
        | visit_id | visited_pages | is_finished |
        | 1        | 1             | false       |
        | 2        | 1             | false       |
      And batch 1 is empty, the watermark having moved to 06:55
      When the early writer is stopped
      And this event arrives in "visits":
        | event_id | visit_id | event_time |
        | click-2  | 1        | 07:01      |
      And the early writer is started again
      Then batch 2 is:
        | visit_id | visited_pages | is_finished |
        | 1        | 2             | false       |
      And batch 3 is empty, the watermark having moved to 06:56
      When this event arrives in "visits":
        | event_id | visit_id | event_time |
        | click-3  | 1        | 07:13      |
      Then batch 4 is:
        | visit_id | visited_pages | is_finished |
        | 1        | 3             | false       |
      And batch 5 is empty, the watermark having moved to 07:08
      # Visit 2 has had no event since before the restart. Its timer, set then for 07:15, fires all the same.
      When this event arrives in "visits":
        | event_id | visit_id | event_time |
        | click-4  | 1        | 07:21      |
      Then batch 6 is:
        | visit_id | visited_pages | is_finished |
        | 1        | 4             | false       |
      And batch 7 is:
        | visit_id | visited_pages | is_finished |
        | 2        | 1             | true        |
      And the watermark is 07:16
