"""Units and retired arms over HTTP: the service does what a study does."""

ARMS = ["a", "b", "c"]


def test_nobody_is_sent_to_an_arm_that_was_retired(studies):
    study = studies.create_study("switched", arms=ARMS, seed=5)
    assert bool(study)
    firsts = [study.ask(unit=f"u{k}", token=f"t{k}") for k in range(6)]
    gone = firsts[0].arm
    study.retire_arm(gone)
    again = [study.ask(unit=f"u{k}") for k in range(6)]
    assert gone not in {trial.arm for trial in again + study.ask(6)}
    assert [study.ask(unit=f"u{k}", token=f"t{k}") for k in range(6)] == firsts  # answers that were given
    study.tell(firsts[0], 1.0)
    study.tell(again[0], 1.0)
    assert study.summary()["told"].sum() == 1
    assert study.winner().assumes.startswith("if the winner's rewards are distributed")
    assert study.replay().same
