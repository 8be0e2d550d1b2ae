@streaming_reprocessor
Feature: Streaming reprocessor
  A stream is taken back to an earlier micro-batch by taking its checkpoint back: the job then
  does the later micro-batches again, with the same input and the same result.

  The job counts visits in tumbling windows. The document's text says 15 minutes; its own output
  shows 10 minutes, and 10 it is. The watermark is 20 minutes behind the latest visit.

  Background:
    Given the day is 2025-09-04
    And a topic "visits" with 2 partitions

  Rule: A rewound checkpoint gives the same micro-batches again

    @walkthrough @undisturbed_by_replay-it-lists-the-files-of-the-checkpoint
    Scenario: The walkthrough: seven micro-batches, taken back to number 5
      # The job starts on an empty topic, so micro-batch 0 has nothing to count.
      Given the visits windows counter is running
      Then batch 0 is empty
      When these events arrive in partition 1 of "visits":
        | event_id | visit_id | event_time |
        | click-1  | 1        | 07:00      |
        | click-2  | 1        | 07:01      |
        | click-3  | 1        | 07:02      |
      Then batch 1 is:
        | window         | count |
        | 07:00 to 07:10 | 3     |
      # 07:02 - 20 minutes
      And batch 2 is empty, the watermark having moved to 06:42
      When these events arrive in partition 1 of "visits":
        | event_id | visit_id | event_time |
        | click-4  | 1        | 07:00      |
        | click-1  | 2        | 07:10      |
        | click-1  | 2        | 07:20      |
      Then batch 3 is:
        | window         | count |
        | 07:00 to 07:10 | 4     |
        | 07:10 to 07:20 | 1     |
        | 07:20 to 07:30 | 1     |
      And batch 4 is empty, the watermark having moved to 07:00
      When these events arrive in partition 1 of "visits":
        | event_id | visit_id | event_time |
        | click-1  | 2        | 07:25      |
        | click-1  | 2        | 07:35      |
      Then batch 5 is:
        | window         | count |
        | 07:20 to 07:30 | 2     |
        | 07:30 to 07:40 | 1     |
      And batch 5 is printed as:
        """
        -------------------------------------------
        Batch: 5
        -------------------------------------------
        +------------------------------------------+-----+
        |window                                    |count|
        +------------------------------------------+-----+
        |{2025-09-04 07:20:00, 2025-09-04 07:30:00}|2    |
        |{2025-09-04 07:30:00, 2025-09-04 07:40:00}|1    |
        +------------------------------------------+-----+
        """
      # 07:35 - 20 minutes: the window that ended at 07:10 is over and leaves the state.
      And batch 6 is empty, the watermark having moved to 07:15
      And the state holds 3 rows
      Given the state of the visits windows counter is remembered
      When the visits windows counter is stopped
      # What the document's `tree` shows. Both state partitions have a version for every micro-batch; the windows,
      # and so the SST files, fall into partition 1 here and into partition 0 there.
      Then the checkpoint of the visits windows counter holds:
        """
        metadata
        commits/0
        commits/1
        commits/2
        commits/3
        commits/4
        commits/5
        commits/6
        offsets/0
        offsets/1
        offsets/2
        offsets/3
        offsets/4
        offsets/5
        offsets/6
        sources/0/0
        state/0/0/1.zip
        state/0/0/2.zip
        state/0/0/3.zip
        state/0/0/4.zip
        state/0/0/5.zip
        state/0/0/6.zip
        state/0/0/7.zip
        state/0/1/1.zip
        state/0/1/2.zip
        state/0/1/3.zip
        state/0/1/4.zip
        state/0/1/5.zip
        state/0/1/6.zip
        state/0/1/7.zip
        state/0/1/SSTs/*.sst
        state/0/0/_metadata/schema
        state/0/_metadata/metadata
        """
      And the offsets of batch 1 of the visits windows counter have version "v1"
      And the offsets of batch 1 of the visits windows counter are:
        """
        {"visits":{"0":0,"1":3}}
        """
      And the offsets of batch 1 of the visits windows counter carry these settings:
        | setting                                                          | value                                                                    |
        | batchWatermarkMs                                                 | 0                                                                        |
        | spark.sql.streaming.stateStore.providerClass                     | org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider |
        | spark.sql.streaming.stateStore.rocksdb.formatVersion             | 5                                                                        |
        | spark.sql.streaming.stateStore.encodingFormat                    | unsaferow                                                                |
        | spark.sql.streaming.statefulOperator.useStrictDistribution       | true                                                                     |
        | spark.sql.streaming.flatMapGroupsWithState.stateFormatVersion    | 2                                                                        |
        | spark.sql.streaming.multipleWatermarkPolicy                      | min                                                                      |
        | spark.sql.streaming.aggregation.stateFormatVersion               | 2                                                                        |
        | spark.sql.shuffle.partitions                                     | 2                                                                        |
        | spark.sql.streaming.join.stateFormatVersion                      | 2                                                                        |
        | spark.sql.streaming.stateStore.compression.codec                 | lz4                                                                      |
        | spark.sql.optimizer.pruneFiltersCanPruneStreamingSubplan         | false                                                                    |
      # The document says "the state of the second micro-batch" and runs `python clean_checkpoint_files.py 5`: it is
      # micro-batch number 5, the sixth. That script takes back one state partition; rewind-checkpoint takes back all.
      When the checkpoint of the visits windows counter is rewound to batch 5
      And the visits windows counter is started again
      Then batch 5 is:
        | window         | count |
        | 07:20 to 07:30 | 2     |
        | 07:30 to 07:40 | 1     |
      And batch 6 is empty, the watermark having moved to 07:15
      And there is no batch 4
      And batch 4 of the first start is empty
      And the state of the visits windows counter is as remembered
      And no row was dropped

  Rule: After a rewind the stream goes on as if nothing had happened

    Scenario: A visit that comes after the rewind is added to the counts before it
      Given these events in "visits":
        | event_id | visit_id | event_time |
        | click-1  | 1        | 07:00      |
      And the visits windows counter is running
      Then batch 0 is:
        | window         | count |
        | 07:00 to 07:10 | 1     |
      When this event arrives in "visits":
        | event_id | visit_id | event_time |
        | click-2  | 1        | 07:05      |
      Then batch 2 is:
        | window         | count |
        | 07:00 to 07:10 | 2     |
      When the visits windows counter is stopped
      And the checkpoint of the visits windows counter is rewound to batch 2
      And this event arrives in "visits":
        | event_id | visit_id | event_time |
        | click-3  | 1        | 07:06      |
      And the visits windows counter is started again
      # click-2 for the second time and click-3 for the first
      Then batch 2 is:
        | window         | count |
        | 07:00 to 07:10 | 3     |
