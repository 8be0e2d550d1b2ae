@rewind
Feature: Taking a checkpoint back, for the one who has to do it at night
  A stream has done something wrong since micro-batch N: the job is mended, and now it must do those
  micro-batches again. `headgate rewind-checkpoint DIR --to-batch N` takes the checkpoint back. It shows
  a plan first, keeps what it removes, can be undone, and refuses what would lose data.

  Background:
    Given the day is 2025-09-04
    And a topic "visits"

  Rule: A plan changes nothing, an applied plan can be undone

    Scenario: Look, apply, think again, undo
      Given these events in "visits":
        | event_id | visit_id | event_time |
        | click-1  | 1        | 07:00      |
      And the visits windows counter is running
      When this event arrives in "visits":
        | event_id | visit_id | event_time |
        | click-2  | 1        | 07:05      |
      Then batch 0 is:
        | window         | count |
        | 07:00 to 07:10 | 1     |
      And batch 2 is:
        | window         | count |
        | 07:00 to 07:10 | 2     |
      When the visits windows counter is stopped
      Given the checkpoint of the visits windows counter is remembered
      When a rewind of the visits windows counter to batch 2 is planned
      Then it prints "the output of batches 2 to 3"
      And it prints "2025-09-04 06:40:00.000 UTC"
      And it prints "source 0: Kafka visits 0 offset 1"
      And the checkpoint of the visits windows counter is as remembered
      When the checkpoint of the visits windows counter is rewound to batch 2
      And the rewind of the visits windows counter is undone
      Then the checkpoint of the visits windows counter is as remembered
      # The job goes on after batch 3, as if nobody had touched its checkpoint.
      When this event arrives in "visits":
        | event_id | visit_id | event_time |
        | click-3  | 1        | 07:06      |
      And the visits windows counter is started again
      Then batch 4 is:
        | window         | count |
        | 07:00 to 07:10 | 3     |

    Scenario: Back to the very beginning
      Given these events in "visits":
        | event_id | visit_id | event_time |
        | click-1  | 1        | 07:00      |
      And the early writer is running
      Then batch 0 is:
        | visit_id | visited_pages | is_finished |
        | 1        | 1             | false       |
      When the early writer is stopped
      And the checkpoint of the early writer is rewound to batch 0
      And the early writer is started again
      Then batch 0 is:
        | visit_id | visited_pages | is_finished |
        | 1        | 1             | false       |
      And the state holds 1 row

  Rule: What would lose data or cannot work is refused, with what would work

    Scenario: A query still runs on the checkpoint
      Given these events in "visits":
        | event_id | visit_id | event_time |
        | click-1  | 1        | 07:00      |
      And the visits windows counter is running
      When the checkpoint of the visits windows counter is rewound to batch 1
      Then it is refused with "a query may still be running on it"
      And the visits windows counter is still running
      And batch 0 is:
        | window         | count |
        | 07:00 to 07:10 | 1     |

    Scenario: A batch that never was
      Given these events in "visits":
        | event_id | visit_id | event_time |
        | click-1  | 1        | 07:00      |
      And the visits windows counter is running
      Then batch 0 is:
        | window         | count |
        | 07:00 to 07:10 | 1     |
      When the visits windows counter is stopped
      And the checkpoint of the visits windows counter is rewound to batch 7
      Then it is refused with "the nearest batch that works is 1"

    Scenario: Kafka no longer has what would be done again
      Given these events in "visits":
        | event_id | visit_id | event_time |
        | click-1  | 1        | 07:00      |
      And the visits windows counter is running
      When this event arrives in "visits":
        | event_id | visit_id | event_time |
        | click-2  | 1        | 07:05      |
      And the visits windows counter is stopped
      And retention deletes the records of "visits" before offset 2
      And the checkpoint of the visits windows counter is rewound to batch 2
      Then it is refused with "Kafka has deleted what is to be read again of visits, partition 0: the job would resume from offset 1, the first one left is 2"
      And batch 0 is:
        | window         | count |
        | 07:00 to 07:10 | 1     |
      And batch 2 is:
        | window         | count |
        | 07:00 to 07:10 | 2     |

    # Delta Lake remembers the last batch of every query and skips it when it comes again:
    # a rewind under a Delta table would lose what it meant to repeat.
    Scenario: The job writes to a Delta table
      Given these events in "visits":
        | event_id | visit_id | event_time |
        | click-1  | 1        | 07:00      |
      And the data synchronization is running
      When this event arrives in "visits":
        | event_id | visit_id | event_time |
        | click-2  | 1        | 07:05      |
      Then the table "visits_table" holds:
        | event_time |
        | 07:00      |
        | 07:05      |
      When the data synchronization is stopped
      And the checkpoint of the data synchronization is rewound to batch 1, with its table "visits_table"
      Then it is refused with "silently skip them when they are replayed"
