"""Faults that studies have had, each put back by replacing one function: ``test_state_machine.py`` must find them."""

from dirichlet_bandits.storage.events import REOPEN


def counts_again(assign):
    """A unit whose arm was retired is assigned again, and that reward counts."""

    def mutant(journal, trial, asked, decided):
        assign(journal, trial, asked, decided)
        if decided:
            journal.repeats.discard(trial)

    return mutant


def forgets_reopened(apply):
    """Segments do not learn of trials that are reopened."""

    def mutant(parts, event):
        if event.kind != REOPEN:
            apply(parts, event)

    return mutant


def phantom(reopen):
    """A trial of a unit that does not count is pending for its arm once it is reopened."""

    def mutant(journal, number, trial):
        reopen(journal, number, trial)
        journal.n_pending[journal.arm_of[trial]] += trial in journal.repeats

    return mutant


def serves_retired(waiting_for):
    """A unit gets its waiting trial although its arm was retired."""

    def mutant(journal, unit):
        last = journal.last_of.get(unit)
        return [last] if last in journal.pending else []

    return mutant


def past_waits(is_open):
    """A past trial whose reward was voided and corrected waits for a window."""

    def mutant(journal, trial):
        return journal.lateness is not None and journal.lateness.holds and trial >= journal._n_closed

    return mutant
