"""Sentences about jobs: started, stopped, started again, failing, refused."""

from headgate.compare.checks import fail
from headgate.errors import FeatureMistake
from headgate.project import split_words
from headgate.stage.stage import Stage

from .sentences import given, then, when

FEWEST_WORDS = 3


@given("the {job} is running")
@when("the {job} starts")
def job_is_running(stage: Stage, job: str) -> None:
    """Starts the job with its defaults, and lets it process what is there."""
    stage.start_job(job, [])


@given('the {job} is running with "{words}"')
@when('the {job} starts with "{words}"')
def job_is_running_with(stage: Stage, job: str, words: str) -> None:
    """The same with options, as on its command line; topics and folders are this scenario's own."""
    stage.start_job(job, split_words(words))


@when("the {job} runs")
def job_runs(stage: Stage, job: str) -> None:
    """Runs a program that ends by itself, with its declared words."""
    stage.run_job(job, [])


@when('the {job} runs with "{words}"')
def job_runs_with(stage: Stage, job: str, words: str) -> None:
    """Runs a job or command that ends by itself."""
    stage.run_job(job, split_words(words))


@when("the {job} is stopped")
def job_is_stopped(stage: Stage, job: str) -> None:
    """Stops the job after the batch in hand."""
    stage.staged(job).stop()


@when("the {job} is started again")
def job_is_started_again(stage: Stage, job: str) -> None:
    """Starts it from its checkpoint, with the same options; stops it before if it still runs."""
    stage.begin(stage.staged(job))


@given("the printer will break in the middle of batch {number:d} of the {job}")
@given("the {job} will break in the middle of batch {number:d}")
def will_break_in_middle(stage: Stage, number: int, job: str) -> None:
    """The next time that batch is put out, it fails on the way to the sink; said before the job starts, or of one
    that prints or hands on its batches while it runs."""
    stage.break_batch(job, number, after_sink=False)


@given("the {job} will break after the sink of batch {number:d}")
def will_break_after_sink(stage: Stage, job: str, number: int) -> None:
    """The sink gets that batch, and Spark does not come to note so: the batch is done again at the next start."""
    stage.break_batch(job, number, after_sink=True)


@then('the {job} has failed with "{text}"')
def job_has_failed(stage: Stage, job: str, text: str) -> None:
    """The job has ended with an error that says this."""
    stage.settle()
    staged = stage.staged(job)
    failure = staged.failure()
    if failure is None:
        fail(stage, f"the {job} has not failed")
    if text not in stage.without_suffix(str(failure)):
        fail(stage, f"the {job} has failed, but with: {failure}")
    staged.failures_mentioned.add(staged.start_numbered(None))


@then("the {job} has ended")
def job_has_ended(stage: Stage, job: str) -> None:
    """The job, which was running, has ended by itself and without an error."""
    stage.settle()
    staged = stage.staged(job)
    if staged.failure() is not None:
        fail(stage, f"the {job} has failed: {staged.failure()}")
    if not staged.has_ended:
        fail(stage, f"the {job} has not ended")
    staged.end_mentioned = True


@then("the {job} is still running")
def job_is_still_running(stage: Stage, job: str) -> None:
    """The job has neither ended nor failed."""
    stage.settle()
    if not stage.staged(job).is_running:
        fail(stage, f"the {job} is not running")


@then('it is refused with "{text}"')
def it_is_refused(stage: Stage, text: str) -> None:
    """What the last step asked for was refused, in a sentence that says this."""
    if stage.refused is None:
        raise FeatureMistake("nothing was refused")
    if len(text.split()) < FEWEST_WORDS:
        raise FeatureMistake(f"'{text}' could be said of many refusals: quote more of the sentence that came")
    if text not in stage.refused:
        fail(stage, f"it was refused, but with: {stage.refused}")
    stage.refused = None


@then('it prints "{text}"')
def it_prints_text(stage: Stage, text: str) -> None:
    """What the command that has just run printed has these words, whatever the line breaks."""
    printed = " ".join(stage.without_suffix(stage.printed).split())
    if text not in printed:
        fail(stage, f"not printed: {text}\n\nprinted:\n{stage.printed}")


@then("it prints:")
def it_prints(stage: Stage, docstring: str) -> None:
    """What the command that has just run printed has each of these lines."""
    printed = [" ".join(line.split()) for line in stage.without_suffix(stage.printed).splitlines()]
    missing = [line for line in docstring.splitlines() if " ".join(line.split()) not in printed]
    if missing:
        lines = "\n".join(f"  {line}" for line in missing)
        fail(stage, f"not printed:\n{lines}\n\nprinted:\n{stage.printed}")
