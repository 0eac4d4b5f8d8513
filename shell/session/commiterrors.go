// SPDX-License-Identifier: Apache-2.0

package session

import (
	"errors"
	"fmt"

	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/internal/base/prose"
)

// Errors of [Session.Commit].
var (
	ErrNothingStaged = errors.New("nothing is staged (try: route)")
	ErrStale         = errors.New(isStaleText + "; route first")
	ErrMoved         = errors.New("the live subnet is no longer the one that the paper started from (try: restore all)")
	ErrReadOnly      = errors.New("the session is read-only (try: write on)")
	ErrNotAsked      = errors.New("nothing was written: say commit yes")
)

// MasterError says that another subnet manager is in charge.
type MasterError struct {
	SM    SM
	Asked uint64 // the GUID that the caller took for the master's, 0 for none
}

func (e *MasterError) Error() string {
	if e.Asked != 0 {
		return fmt.Sprintf("0x%016x is not the master subnet manager; that is 0x%016x on %s", e.Asked,
			e.SM.GUID, e.SM.Port)
	}
	return fmt.Sprintf("a %s subnet manager, 0x%016x on %s, owns this subnet. OpenSM does not read tables back and "+
		"sends only "+
		"blocks that differ from its own copy, so a later re-route of its would leave a mixture of its tables and "+
		"these. "+
		"To write all the same: commit yes sm=0x%016x", e.SM.State, e.SM.GUID, e.SM.Port, e.SM.GUID)
}

// UnansweredError says that parts of the subnet did not answer: nobody knows what a commit would take from them.
type UnansweredError struct{ Unanswered []string }

func (e *UnansweredError) Error() string {
	return fmt.Sprintf("the subnet was read with %s unanswered (%s, ...); what did not answer would lose its routes "+
		"(show unanswered lists them). "+
		"To write all the same: commit yes unanswered=yes", prose.Count(len(e.Unanswered), "question"), e.Unanswered[0])
}

// CirclingError says that the staged trees of multicast groups have cycles.
type CirclingError struct{ Groups int }

func (e *CirclingError) Error() string {
	return fmt.Sprintf("the staged trees of %s have cycles, in which packets go round for ever (check mcast names "+
		"them). "+
		"To write all the same: commit yes hit=yes", prose.Count(e.Groups, "multicast group"))
}

// LoopError says that the staged routes have a credit loop, and those on the switches none.
type LoopError struct {
	// Links is how many links there are on a shortest one, From one of them.
	Links   int
	From    string
	Unknown bool // says that SLs or VLs that nobody read may break it
}

func (e *LoopError) Error() string {
	has := prose.When(e.Unknown, "may have", "have")
	return fmt.Sprintf("the staged routes %s a credit loop over %s (through %s), in which packets may wait for one "+
		"another for ever, "+
		"and those on the switches have none (try: route, with an engine whose routes have none). To write all the "+
		"same: commit yes loop=yes", has, prose.Count(e.Links, "link"), e.From)
}

// SinceError says that a commit was written and read back whole, and that somebody else wrote over it at once.
type SinceError struct{ write.Conflicts }

func (e *SinceError) Error() string {
	o := Others{Conflicts: e.Conflicts}
	return fmt.Sprintf("all was written and read back, and others have written over %s of it since: %s (try: diff "+
		"staged live; show sms)",
		prose.Count(e.Count, "entry"), o.Names(mostTold))
}

// CutError says that by a commit pairs would be lost of the subnet that it is for.
type CutError struct {
	Pairs   int64
	Unknown bool // says that it is unknown whether the staged tables connect their own subnet
}

func (e *CutError) Error() string {
	if e.Unknown {
		return fmt.Sprintf("%s connected now would be lost, and it is unknown whether the staged tables connect "+
			"their own subnet, as some were not read. "+
			"To write all the same: commit yes cut=yes", prose.Verb(e.Pairs, "pair", "that is", "that are"))
	}
	return fmt.Sprintf("%s connected now would be lost, and not because of what has failed on paper: "+
		"the staged tables do not connect their own subnet. To write all the same: commit yes cut=yes",
		prose.Verb(e.Pairs, "pair", "that is", "that are"))
}

// HitError says that a commit would take packets from pairs connected before and after, in whatever order it writes.
type HitError struct {
	Pairs   int64
	Unknown int64 // counts pairs of which that is unknown
	Groups  int   // counts multicast groups whose members would not hear one another
}

func (e *HitError) Error() string {
	if e.Pairs == 0 && e.Unknown > 0 {
		return fmt.Sprintf("%s connected before and after may lose packets: their new paths take switches whose "+
			"tables were not read. "+
			"To write all the same: commit yes hit=yes", prose.Verb(e.Unknown, "pair", "that is", "that are"))
	}
	if e.Pairs == 0 {
		return fmt.Sprintf("members of %s that hear one another before and after would not for a moment, while their "+
			"trees change. "+
			"To write all the same: commit yes hit=yes", prose.Count(e.Groups, "multicast group"))
	}
	return fmt.Sprintf("%s connected before and after would lose packets, as LIDs change or links are down: "+
		"there is no order that spares them. To write all the same: commit yes hit=yes",
		prose.Verb(e.Pairs, "pair", "that is", "that are"))
}

// StoppedError says that a commit stopped before its end.
type StoppedError struct {
	// Step is where it stopped between two of its steps, "" where all was sent. Hitless
	// says that the mixture of two steps cuts no pair.
	Step    string
	Hitless bool
	Open    *InterruptedError // the commit in the journal that is to be ended now, nil where nothing was journalled
	Err     error
}

func (e *StoppedError) Error() string {
	mix := "hold a mixture of old and new routes"
	switch {
	case e.Step == "":
		mix = "may hold a mixture of old and new routes"
	case e.Hitless:
		mix += " that cuts no pair and has no loop"
	}
	remedy := "go on with commit yes"
	if e.Open != nil {
		remedy = e.Open.remedy()
	}
	return fmt.Sprintf("%v. The switches %s: %s", e.Err, mix, remedy)
}

func (e *StoppedError) Unwrap() error { return e.Err }
