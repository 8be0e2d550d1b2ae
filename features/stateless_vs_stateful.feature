@stateless_vs_stateful
Feature: Stateless and stateful browser statistics
  Two jobs count visits per browser in event-time windows of 5 minutes. The stateless one
  looks at one micro-batch at a time; the stateful one adds each micro-batch to what it
  already has, and accepts visits up to 20 minutes late: that is its watermark. Without one it
  would have to keep every window for ever, and time never goes back.

  In the document some times end in ".000.000Z". Spark prints them with ".000Z", and so does this feature.

  Background:
    Given the day is 2024-10-06
    And a topic "visits"
    And a topic "browser-stats-stateless"
    And a topic "browser-stats-stateful"

  Rule: State is the difference

    # The document runs one job after the other on the same visits; here both run side by side.
    @walkthrough
    Scenario: The walkthrough: the same visits, two answers, and a watermark that moves
      Given the browser stats stateless is running
      And the browser stats stateful is running
      When these lines arrive in "visits":
        """
        {"userId": 1, "page": "index.html", "eventTime": "2024-10-06T10:00:00Z", "browser": "Firefox"}
        {"userId": 1, "page": "index.html", "eventTime": "2024-10-06T10:01:00Z", "browser": "Chrome"}
        {"userId": 1, "page": "index.html", "eventTime": "2024-10-06T10:02:00Z", "browser": "Safari"}
        """
      Then "browser-stats-stateless" receives exactly:
        """
        {"browser":"Chrome","window":{"start":"2024-10-06T10:00:00.000Z","end":"2024-10-06T10:05:00.000Z"},"count":1,"last_event_time_in_window":"2024-10-06T10:01:00.000Z"}
        {"browser":"Safari","window":{"start":"2024-10-06T10:00:00.000Z","end":"2024-10-06T10:05:00.000Z"},"count":1,"last_event_time_in_window":"2024-10-06T10:02:00.000Z"}
        {"browser":"Firefox","window":{"start":"2024-10-06T10:00:00.000Z","end":"2024-10-06T10:05:00.000Z"},"count":1,"last_event_time_in_window":"2024-10-06T10:00:00.000Z"}
        """
      And "browser-stats-stateful" receives exactly:
        """
        {"browser":"Firefox","window":{"start":"2024-10-06T10:00:00.000Z","end":"2024-10-06T10:05:00.000Z"},"count":1,"last_event_time_in_window":"2024-10-06T10:00:00.000Z"}
        {"browser":"Chrome","window":{"start":"2024-10-06T10:00:00.000Z","end":"2024-10-06T10:05:00.000Z"},"count":1,"last_event_time_in_window":"2024-10-06T10:01:00.000Z"}
        {"browser":"Safari","window":{"start":"2024-10-06T10:00:00.000Z","end":"2024-10-06T10:05:00.000Z"},"count":1,"last_event_time_in_window":"2024-10-06T10:02:00.000Z"}
        """
      # 10:02 - 20 minutes
      And the watermark of the browser stats stateful is 09:42
      # Two more visits with Firefox: 2 for the job that starts from nothing, 3 for the one that remembers.
      When these lines arrive in "visits":
        """
        {"userId": 1, "page": "index.html", "eventTime": "2024-10-06T10:00:00Z", "browser": "Firefox"}
        {"userId": 1, "page": "index.html", "eventTime": "2024-10-06T10:03:00Z", "browser": "Firefox"}
        """
      Then "browser-stats-stateless" receives exactly:
        """
        {"browser":"Firefox","window":{"start":"2024-10-06T10:00:00.000Z","end":"2024-10-06T10:05:00.000Z"},"count":2,"last_event_time_in_window":"2024-10-06T10:03:00.000Z"}
        """
      And "browser-stats-stateful" receives exactly:
        """
        {"browser":"Firefox","window":{"start":"2024-10-06T10:00:00.000Z","end":"2024-10-06T10:05:00.000Z"},"count":3,"last_event_time_in_window":"2024-10-06T10:03:00.000Z"}
        """
      And the watermark of the browser stats stateful is 09:43
      And the watermark of the browser stats stateful dropped 0 rows
      When the browser stats stateless is stopped
      # 09:40 is before the watermark, but its window ends at 09:45, after it: still open.
      # (The document says that 09:40 is just the accepted time: by then it is 09:43.)
      And this line arrives in "visits":
        """
        {"userId": 1, "page": "index.html", "eventTime": "2024-10-06T09:40:00Z", "browser": "Firefox"}
        """
      Then "browser-stats-stateful" receives exactly:
        """
        {"browser":"Firefox","window":{"start":"2024-10-06T09:40:00.000Z","end":"2024-10-06T09:45:00.000Z"},"count":1,"last_event_time_in_window":"2024-10-06T09:40:00.000Z"}
        """
      And the watermark of the browser stats stateful is 09:43
      And the watermark of the browser stats stateful dropped 0 rows
      # The window of 09:30 ended at 09:35, before the watermark.
      When this line arrives in "visits":
        """
        {"userId": 1, "page": "index.html", "eventTime": "2024-10-06T09:30:00Z", "browser": "Firefox"}
        """
      Then "browser-stats-stateful" receives nothing more
      And the watermark of the browser stats stateful is 09:43
      And the watermark of the browser stats stateful dropped 1 row
      And the state of the browser stats stateful holds 4 rows
      # 10:30 - 20 minutes = 10:10: every window that ended before is over.
      When this line arrives in "visits":
        """
        {"userId": 1, "page": "index.html", "eventTime": "2024-10-06T10:30:00Z", "browser": "Firefox"}
        """
      Then "browser-stats-stateful" receives exactly:
        """
        {"browser":"Firefox","window":{"start":"2024-10-06T10:30:00.000Z","end":"2024-10-06T10:35:00.000Z"},"count":1,"last_event_time_in_window":"2024-10-06T10:30:00.000Z"}
        """
      And the watermark of the browser stats stateful is 10:10
      And the watermark of the browser stats stateful dropped 0 rows
      And the state of the browser stats stateful holds 1 rows
      # The window of 10:00 was active once. It is not there any more.
      When this line arrives in "visits":
        """
        {"userId": 1, "page": "index.html", "eventTime": "2024-10-06T10:00:00Z", "browser": "Firefox"}
        """
      Then "browser-stats-stateful" receives nothing more
      And the watermark of the browser stats stateful is 10:10
      And the watermark of the browser stats stateful dropped 1 row

  Rule: The stateless job knows no time: nothing is too late for it

    Scenario: A visit of last year is counted like any other
      Given the browser stats stateless is running
      When this event arrives in "visits":
        | userId | page       | eventTime            | browser |
        | 1      | index.html | 2024-10-06T10:30:00Z | Firefox |
      Then "browser-stats-stateless" receives exactly:
        """
        {"browser":"Firefox","window":{"start":"2024-10-06T10:30:00.000Z","end":"2024-10-06T10:35:00.000Z"},"count":1,"last_event_time_in_window":"2024-10-06T10:30:00.000Z"}
        """
      When this event arrives in "visits":
        | userId | page       | eventTime            | browser |
        | 1      | index.html | 2023-10-06T10:30:00Z | Firefox |
      Then "browser-stats-stateless" receives exactly:
        """
        {"browser":"Firefox","window":{"start":"2023-10-06T10:30:00.000Z","end":"2023-10-06T10:35:00.000Z"},"count":1,"last_event_time_in_window":"2023-10-06T10:30:00.000Z"}
        """

  Rule: State outlives the job

    Scenario: A restart does not forget the count
      Given the browser stats stateful is running
      When this event arrives in "visits":
        | userId | page       | eventTime            | browser |
        | 1      | index.html | 2024-10-06T10:00:00Z | Firefox |
      Then "browser-stats-stateful" receives exactly:
        """
        {"browser":"Firefox","window":{"start":"2024-10-06T10:00:00.000Z","end":"2024-10-06T10:05:00.000Z"},"count":1,"last_event_time_in_window":"2024-10-06T10:00:00.000Z"}
        """
      When the browser stats stateful is started again
      And this event arrives in "visits":
        | userId | page       | eventTime            | browser |
        | 1      | index.html | 2024-10-06T10:01:00Z | Firefox |
      Then "browser-stats-stateful" receives exactly:
        """
        {"browser":"Firefox","window":{"start":"2024-10-06T10:00:00.000Z","end":"2024-10-06T10:05:00.000Z"},"count":2,"last_event_time_in_window":"2024-10-06T10:01:00.000Z"}
        """
