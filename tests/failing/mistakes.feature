Feature: Mistakes in a feature, each told with its place

  Background:
    Given the day is 2025-09-04
    And a topic "visits"

  Scenario: unknown sentence
    When pigs fly

  Scenario: unknown job
    Given the late writer is running

  Scenario: unknown topic
    When these events arrive in "vists":
      | visit_id | event_time |
      | 1        | 07:00      |

  Scenario: unknown option
    Given the early writer is running with "--speed 3"

  Scenario: unknown column
    Given these events in "visits":
      | visit_id | event_time |
      | 1        | 07:00      |
    And the early writer is running
    Then batch 0 is:
      | visit_id | pages | is_finished |
      | 1        | 1     | false       |

  Scenario: column left out
    Given these events in "visits":
      | visit_id | event_time |
      | 1        | 07:00      |
    And the early writer is running
    Then batch 0 is:
      | visit_id | visited_pages |
      | 1        | 1             |

  Scenario: cell that does not parse
    Given these events in "visits":
      | visit_id | event_time |
      | 1        | 07:00      |
    And the early writer is running
    Then batch 0 is:
      | visit_id | visited_pages | is_finished |
      | 1        | one           | false       |

  Scenario: refusal that nobody expected
    Given the early writer is running with "--dead-letter-topic {topic visits}"
    Then batch 0 is empty
