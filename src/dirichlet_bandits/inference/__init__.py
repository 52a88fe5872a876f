"""What rewards say: functions of arrays and small tuples of arrays that know no study, no event and no storage."""
