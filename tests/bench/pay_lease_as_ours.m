-- pay-lease as pay-lease.jsonc has it, in Murphi (Rumur dialect): pay_lease.m with the differences that docs/performance.md lists.
-- It exists to show that these are all: Rumur and oncecheck then count the same states under symmetry.
const
  N: 2;
  R: 1;
  T: 1;
  L: 1;
  C: 1;
  E: 1;
  HON: 1;

type
  handler: scalarset(N);
  state_t: enum { ABSENT, PROC, UNK, SUCC, FAIL };
  -- s0b says what it is about to do: what it read is dead but for the version that a takeover compares.
  pc_t:    enum { unsent, s0, s0bsucc, s0bfail, s0bwait, s0btake, s1, s2, s3ok, s3tmo, s4ok, s4tmo, crashed, done, gaveup };
  rec_t:   enum { idle, started, asks, settles };
  lease_t: enum { none, running, passed };
  version: 0..7;
  budget:  0..3;

var
  st: state_t;
  owner: handler;             -- undefined: nobody, or somebody who does not know it any more
  ver: version;
  lv: lease_t;                -- none again once the state is not PROC
  charges: 0..3;
  told_ok: boolean; told_accepted: boolean; told_failed: boolean; told_unknown: boolean;
  tb: budget;
  lb: budget;
  cb: budget;
  eb: budget;
  orphans: 0..7;              -- requests whose caller is gone
  req: array[handler] of boolean;
  resp: array[handler] of boolean;
  pc: array[handler] of pc_t;
  tries: array[handler] of 0..2;
  myver: array[handler] of version;   -- read at s0b, or one's own
  rec: rec_t;
  rv: version;
  found: boolean;

procedure charge();
begin
  if HON = 1 then
    if charges = 0 then charges := 1; end;
  else
    if charges < 3 then charges := charges + 1; end;
  end;
end;

-- Its own owner token is dead.
procedure forget(h: handler);
begin
  if !isundefined(owner) & owner = h then undefine owner; end;
  myver[h] := 0;
end;

procedure orphan(h: handler);
begin
  if req[h] then orphans := orphans + 1; req[h] := false; end;
  resp[h] := false;
end;

startstate begin
  st := ABSENT; undefine owner; ver := 0; lv := none; charges := 0;
  told_ok := false; told_accepted := false; told_failed := false; told_unknown := false;
  tb := T; lb := L; cb := C; eb := E; orphans := 0;
  for h: handler do
    req[h] := false; resp[h] := false; pc[h] := unsent; tries[h] := 0; myver[h] := 0;
  end;
  rec := idle; rv := 0; found := false;
end;

ruleset h: handler do
  rule "send" pc[h] = unsent ==> begin
    pc[h] := s0; tries[h] := R;
  end;
  rule "s0 claim" pc[h] = s0 & st = ABSENT ==> begin
    st := PROC; owner := h; ver := 1; lv := running; myver[h] := 1; pc[h] := s1;
  end;
  rule "s0 read" pc[h] = s0 & st != ABSENT ==> begin
    if st = SUCC then pc[h] := s0bsucc;
    elsif st = FAIL then pc[h] := s0bfail;
    elsif st = UNK | lv = running then pc[h] := s0bwait;
    else pc[h] := s0btake; myver[h] := ver; end;
  end;
  rule "s0b success" pc[h] = s0bsucc ==> begin
    told_ok := true; tries[h] := 0; pc[h] := done;
  end;
  rule "s0b failed" pc[h] = s0bfail ==> begin
    told_failed := true; tries[h] := 0; pc[h] := done;
  end;
  rule "s0b wait" pc[h] = s0bwait ==> begin
    told_unknown := true;
    if tries[h] > 0 then tries[h] := tries[h] - 1; pc[h] := s0; else pc[h] := done; end;
  end;
  rule "s0b takeover" pc[h] = s0btake ==> begin
    if st = PROC & ver = myver[h] & lv = passed then
      owner := h; ver := ver + 1; lv := running; myver[h] := ver; pc[h] := s1;
    else
      myver[h] := 0; pc[h] := s0;
    end;
  end;
  rule "s1 send" pc[h] = s1 ==> begin
    req[h] := true; pc[h] := s2;
  end;
  rule "s2 response" pc[h] = s2 & resp[h] ==> begin
    resp[h] := false; pc[h] := s3ok;
  end;
  rule "s2 time-out" pc[h] = s2 & tb > 0 ==> begin
    tb := tb - 1; orphan(h); pc[h] := s3tmo;
  end;
  rule "s3 record" pc[h] = s3ok | pc[h] = s3tmo ==> begin
    if st = PROC & !isundefined(owner) & owner = h & ver = myver[h] then
      if pc[h] = s3ok then st := SUCC; else st := UNK; end;
      lv := none;
    end;
    forget(h);
    if pc[h] = s3ok then pc[h] := s4ok; else pc[h] := s4tmo; end;
  end;
  rule "s4 reply" pc[h] = s4ok | pc[h] = s4tmo ==> begin
    if pc[h] = s4ok then told_ok := true; else told_accepted := true; end;
    tries[h] := 0; pc[h] := done;
  end;

  rule "provider answers" req[h] ==> begin
    req[h] := false; charge(); resp[h] := true;
  end;
  rule "response lost" resp[h] & lb > 0 ==> begin
    lb := lb - 1; resp[h] := false;
  end;
  rule "request lost" req[h] & lb > 0 ==> begin
    lb := lb - 1; req[h] := false;
  end;

  rule "crash" cb > 0 & pc[h] != unsent & pc[h] != crashed & pc[h] != done & pc[h] != gaveup ==> begin
    cb := cb - 1; orphan(h); forget(h); pc[h] := crashed;
  end;
  rule "client times out" pc[h] = crashed ==> begin
    told_unknown := true;
    if tries[h] > 0 then tries[h] := tries[h] - 1; pc[h] := s0; else pc[h] := gaveup; end;
  end;
end;

rule "provider carries out an orphan" orphans > 0 ==> begin
  orphans := orphans - 1; charge();
end;
rule "orphan lost" orphans > 0 & lb > 0 ==> begin
  lb := lb - 1; orphans := orphans - 1;
end;

rule "lease expiry" lv = running & eb > 0 ==> begin
  eb := eb - 1; lv := passed;
end;

rule "job starts" rec = idle ==> begin
  rec := started;
end;
rule "r0" rec = started ==> begin
  if st = UNK | (st = PROC & lv = passed) then rv := ver; rec := asks; else rec := idle; end;
end;
rule "r0 asks" rec = asks ==> begin
  found := charges > 0; rec := settles;
end;
rule "r1" rec = settles ==> begin
  if ver = rv then
    if found then st := SUCC; else st := FAIL; end;
    ver := ver + 1; lv := none;
  end;
  rv := 0; found := false; rec := idle;
end;
