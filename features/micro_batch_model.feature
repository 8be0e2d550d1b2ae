@micro_batch_model
Feature: Micro-batch model
  The most basic streaming job: it reads visits from Kafka in micro-batches and prints them. The
  trigger says when a micro-batch starts, `maxOffsetsPerTrigger` how much it may take, and the
  checkpoint remembers what was done.

  The job starts a batch every 20 seconds and takes at most 10 records; where the pace does not matter, a scenario asks
  for a quicker one.

  The document prints with `foreachBatch`, "because we want to get the task id": its lines name Spark's task partition.
  Ours name the Kafka partition, which says where a visit came from; in this job they are the same number, since a task
  reads one Kafka partition. A batch is printed partition by partition, where the document's tasks print as they come.

  Background:
    Given a topic "visits" with 2 partitions

  Rule: A batch is bounded, paced, and printed with its partitions

    @walkthrough
    Scenario: The walkthrough: ten visits, the next ten, and none of them again after a restart
      # "Start the Docker images with the visits data generator": these are the visits that the document shows.
      Given these events in "visits":
        | visit_id          | event_time          | page        | partition |
        | 140444734049152_4 | 2024-01-01T01:00:00 | main        | 1         |
        | 140444734049152_5 | 2024-01-01T01:00:00 | about       | 1         |
        | 140444734049152_6 | 2024-01-01T01:00:00 | about       | 1         |
        | 140444734049152_7 | 2024-01-01T01:00:00 | categories  | 1         |
        | 140444734049152_0 | 2024-01-01T01:00:00 | home        | 0         |
        | 140444734049152_1 | 2024-01-01T01:00:00 | about       | 0         |
        | 140444734049152_2 | 2024-01-01T01:00:00 | contact     | 0         |
        | 140444734049152_3 | 2024-01-01T01:00:00 | category_19 | 0         |
        | 140444734049152_8 | 2024-01-01T01:00:00 | home        | 0         |
        | 140444734049152_9 | 2024-01-01T01:00:00 | about       | 0         |
      And these events in "visits":
        | visit_id          | event_time          | page        | partition |
        | 140444734049152_0 | 2024-01-01T01:02:00 | about       | 0         |
        | 140444734049152_1 | 2024-01-01T01:01:00 | index       | 0         |
        | 140444734049152_2 | 2024-01-01T01:01:00 | about       | 0         |
        | 140444734049152_4 | 2024-01-01T01:04:00 | page_7      | 1         |
        | 140444734049152_3 | 2024-01-01T01:02:00 | index       | 0         |
        | 140444734049152_8 | 2024-01-01T01:01:00 | main        | 0         |
        | 140444734049152_9 | 2024-01-01T01:05:00 | home        | 0         |
        | 140444734049152_5 | 2024-01-01T01:05:00 | about       | 1         |
        | 140444734049152_6 | 2024-01-01T01:01:00 | index       | 1         |
        | 140444734049152_7 | 2024-01-01T01:04:00 | category_15 | 1         |
      # Nothing is said of pace and limit: 20 seconds and 10 records.
      And the micro batch consumer is running
      Then batch 0 is printed as:
        """
        ✍️ Printing visits
        Partition[0] > Printing visit=Row(visit_id='140444734049152_0', event_time=datetime.datetime(2024, 1, 1, 1, 0), page='home')
        Partition[0] > Printing visit=Row(visit_id='140444734049152_1', event_time=datetime.datetime(2024, 1, 1, 1, 0), page='about')
        Partition[0] > Printing visit=Row(visit_id='140444734049152_2', event_time=datetime.datetime(2024, 1, 1, 1, 0), page='contact')
        Partition[0] > Printing visit=Row(visit_id='140444734049152_3', event_time=datetime.datetime(2024, 1, 1, 1, 0), page='category_19')
        Partition[0] > Printing visit=Row(visit_id='140444734049152_8', event_time=datetime.datetime(2024, 1, 1, 1, 0), page='home')
        Partition[0] > Printing visit=Row(visit_id='140444734049152_9', event_time=datetime.datetime(2024, 1, 1, 1, 0), page='about')
        Partition[1] > Printing visit=Row(visit_id='140444734049152_4', event_time=datetime.datetime(2024, 1, 1, 1, 0), page='main')
        Partition[1] > Printing visit=Row(visit_id='140444734049152_5', event_time=datetime.datetime(2024, 1, 1, 1, 0), page='about')
        Partition[1] > Printing visit=Row(visit_id='140444734049152_6', event_time=datetime.datetime(2024, 1, 1, 1, 0), page='about')
        Partition[1] > Printing visit=Row(visit_id='140444734049152_7', event_time=datetime.datetime(2024, 1, 1, 1, 0), page='categories')
        """
      And batch 1 is printed as:
        """
        ✍️ Printing visits
        Partition[0] > Printing visit=Row(visit_id='140444734049152_0', event_time=datetime.datetime(2024, 1, 1, 1, 2), page='about')
        Partition[0] > Printing visit=Row(visit_id='140444734049152_1', event_time=datetime.datetime(2024, 1, 1, 1, 1), page='index')
        Partition[0] > Printing visit=Row(visit_id='140444734049152_2', event_time=datetime.datetime(2024, 1, 1, 1, 1), page='about')
        Partition[0] > Printing visit=Row(visit_id='140444734049152_3', event_time=datetime.datetime(2024, 1, 1, 1, 2), page='index')
        Partition[0] > Printing visit=Row(visit_id='140444734049152_8', event_time=datetime.datetime(2024, 1, 1, 1, 1), page='main')
        Partition[0] > Printing visit=Row(visit_id='140444734049152_9', event_time=datetime.datetime(2024, 1, 1, 1, 5), page='home')
        Partition[1] > Printing visit=Row(visit_id='140444734049152_4', event_time=datetime.datetime(2024, 1, 1, 1, 4), page='page_7')
        Partition[1] > Printing visit=Row(visit_id='140444734049152_5', event_time=datetime.datetime(2024, 1, 1, 1, 5), page='about')
        Partition[1] > Printing visit=Row(visit_id='140444734049152_6', event_time=datetime.datetime(2024, 1, 1, 1, 1), page='index')
        Partition[1] > Printing visit=Row(visit_id='140444734049152_7', event_time=datetime.datetime(2024, 1, 1, 1, 4), page='category_15')
        """
      When these events arrive in "visits":
        | visit_id          | event_time          | page       | partition |
        | 140444734049152_4 | 2024-01-01T01:09:00 | category_5 | 1         |
        | 140444734049152_5 | 2024-01-01T01:12:00 | home       | 1         |
        | 140444734049152_6 | 2024-01-01T01:09:00 | index      | 1         |
      # "Stop the job and save some of the visits in a text editor"
      Then batch 2 is printed as:
        """
        ✍️ Printing visits
        Partition[1] > Printing visit=Row(visit_id='140444734049152_4', event_time=datetime.datetime(2024, 1, 1, 1, 9), page='category_5')
        Partition[1] > Printing visit=Row(visit_id='140444734049152_5', event_time=datetime.datetime(2024, 1, 1, 1, 12), page='home')
        Partition[1] > Printing visit=Row(visit_id='140444734049152_6', event_time=datetime.datetime(2024, 1, 1, 1, 9), page='index')
        """
      And no two batches start in the same interval of 20 seconds
      And no batch has more than 10 rows
      When the micro batch consumer is stopped
      And this event arrives in "visits":
        | visit_id          | event_time          | page | partition |
        | 140444734049152_7 | 2024-01-01T01:10:00 | home | 1         |
      And the micro batch consumer is started again
      # "Look for the messages you saved before. You shouldn't see them"
      Then batch 3 is printed as:
        """
        ✍️ Printing visits
        Partition[1] > Printing visit=Row(visit_id='140444734049152_7', event_time=datetime.datetime(2024, 1, 1, 1, 10), page='home')
        """
      And there is no batch 2
      And the batches together show every event of "visits" once

    Scenario: Whatever the generator sends: each visit printed once, across a restart
      When the visits generator runs with "--count 25 --seed 2024 --rate 0"
      And the micro batch consumer starts with "--trigger '1 second'"
      Then no batch has more than 10 rows
      And every line of the batches names its partition
      And the batches together show every event of "visits" once
      And no two batches start in the same interval of 1 second
      # "Stop the job and save some of the visits"; the generator goes on meanwhile.
      When the micro batch consumer is stopped
      And the visits generator runs with "--count 15 --seed 2025 --rate 0"
      And the micro batch consumer is started again
      # "Look for the messages you saved before. You shouldn't see them": all 40, each once.
      Then the batches together show every event of "visits" once
      And no batch has more than 10 rows

  Rule: A batch that fails is done again, whole

    # "Successfully is an important condition because if your job fails in the middle of a
    # micro-batch, the whole micro-batch will restart."
    Scenario: The job fails in the middle of a batch
      When the visits generator runs with "--count 5 --seed 1 --rate 0"
      And the micro batch consumer starts with "--trigger '1 second'"
      Then batch 0 has 5 rows
      Given the printer will break in the middle of batch 1 of the micro batch consumer
      When the visits generator runs with "--count 7 --seed 2 --rate 0"
      Then the micro batch consumer has failed with "the printer broke in the middle of batch 1"
      When the micro batch consumer is started again
      Then batch 1 has 7 rows
      And the batches together show every event of "visits" once
