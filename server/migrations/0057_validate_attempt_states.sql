-- expand: every attempt has one of the states that the program knows
alter table attempts validate constraint attempts_state_check;
