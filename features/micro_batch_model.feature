@micro_batch_model
Feature: Micro-batch model
  The most basic streaming job: it reads visits from Kafka in micro-batches and prints them. The
  trigger says when a micro-batch starts, `maxOffsetsPerTrigger` how much it may take, and the
  checkpoint remembers what was done.

  The document's job starts a batch every 20 seconds; the scenarios ask for a quicker pace.

  Background:
    Given a topic "visits" with 2 partitions

  Rule: A batch is bounded, paced, and printed with its partitions

    @walkthrough
    Scenario: The walkthrough: visits printed batch by batch, and not again after a restart
      # "Start the Docker images with the visits data generator": ten visits at a time.
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

    Scenario: A batch as the document prints it
      Given these events in "visits":
        | visit_id          | event_time          | page | partition |
        | 140444734049152_4 | 2024-01-01T01:00:00 | main | 1         |
        | 140444734049152_0 | 2024-01-01T01:00:00 | home | 0         |
      And the micro batch consumer is running with "--trigger '1 second'"
      Then batch 0 is printed as:
        """
        ✍️ Printing visits
        Partition[0] > Printing visit=Row(visit_id='140444734049152_0', event_time=datetime.datetime(2024, 1, 1, 1, 0), page='home')
        Partition[1] > Printing visit=Row(visit_id='140444734049152_4', event_time=datetime.datetime(2024, 1, 1, 1, 0), page='main')
        """

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
