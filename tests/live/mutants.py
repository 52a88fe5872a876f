"""Faults that studies have had, each put back by replacing one function: ``test_state_machine.py`` must find them."""


def counts_again(assign):
    """A unit whose arm was retired is assigned again, and that reward counts."""

    def mutant(journal, asked):
        assign(journal, asked)
        if asked.decider is not None:
            journal.repeats.discard(asked.trial)

    return mutant


def forgets_reopened(apply):
    """Segments do not learn of trials that are reopened."""

    def mutant(event, journal, at):
        known, journal.view_of = journal.view_of, {}
        apply(event, journal, at)
        journal.view_of = known

    return mutant


def phantom(reopen):
    """A trial of a unit that does not count is pending for its arm once it is reopened."""

    def mutant(journal, trial):
        reopen(journal, trial)
        journal.n_pending[journal.arm_of[trial]] += trial in journal.repeats

    return mutant


def serves_retired(waiting):
    """A unit gets its waiting trial although its arm was retired."""

    def mutant(ask, study):
        known = study.journal.records.unit(ask.unit)
        return [known.last] if known is not None and known.last in study.journal.pending else []

    return mutant


def past_waits(is_open):
    """A past trial whose reward was voided and corrected waits for a window."""

    def mutant(journal, trial):
        return journal.lateness is not None and journal.lateness.holds and trial >= journal._n_closed

    return mutant
