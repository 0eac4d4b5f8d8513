// SPDX-License-Identifier: Apache-2.0

package problems

import (
	"fmt"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
)

// SMLog holds the recent content of the log of a subnet manager. Names are escaped.
type SMLog struct {
	// Heavy are the times of heavy sweeps, and Cause is the cause of the last one, "" if unknown.
	Heavy []time.Time
	Cause string
	// Traps are the times of equal traps, by sender.
	Traps map[Sender][]time.Time
	// Other describes another master, or a subnet manager with another SM_Key that this master ignores. It is "" if
	// there is none. OtherGUID is the GUID of its port, 0 if unknown, and OtherAt the time at which the log named it
	// last.
	Other     string
	OtherGUID uint64
	OtherAt   time.Time
	// Marks is set if the log contains the beginnings and causes of sweeps.
	Marks bool
}

// Sender is the sender of a trap.
type Sender struct {
	Trap int // its number, 0 for a vendor's notice
	LID  uint16
	Port int // 0 if the trap names none
}

const (
	// Of the heavy sweeps within loopTime, loopSweeps are a loop. A subnet manager sweeps heavily when something
	// changes, and waits ten seconds between light sweeps by default. The limit is our choice.
	loopSweeps = 10
	loopTime   = 10 * time.Minute
	// Of equal traps within stormTime, stormTraps are a storm. From the tenth repetition on, OpenSM ignores a trap.
	stormTraps = 10
	stormTime  = time.Minute
	// RecentSMLog is the time for which another master, and a storm that has ended, stay problems.
	RecentSMLog = 10 * time.Minute
)

// Manager reports a loop of heavy sweeps, trap storms and a second master from the log of a subnet manager, as of now.
func (r *Report) Manager(f *fabric.Fabric, l *SMLog, now time.Time) {
	if n, since := within(l.Heavy, now, loopTime); n >= loopSweeps {
		cause := ""
		if l.Cause != "" {
			cause = "; the last one: " + l.Cause
		}
		r.Add(SweepLoop, WholeSubnet, "changes since=1h; a port that flaps, or a node that joins and leaves?",
			"the subnet manager swept heavily %d times within %v%s", n, loopTime, cause)
		r.Problems[len(r.Problems)-1].Since = since
	}
	r.storms(f, l, now)
	if l.Other != "" && now.Sub(l.OtherAt) <= RecentSMLog &&
		!slices.ContainsFunc(r.Problems, func(p Problem) bool { return p.Kind == TwoMasters }) {
		at := WholeSubnet
		if p := f.PortByGUID(l.OtherGUID); p != fabric.None {
			at = PlaceOfPort(f, p)
		}
		r.Add(TwoMasters, at, "stop all but one; their priorities and SM_Keys: show sms", "%s", l.Other)
	}
}

// storms reports the trap storms of the last ten minutes.
func (r *Report) storms(f *fabric.Fabric, l *SMLog, now time.Time) {
	var senders []Sender
	for s := range l.Traps {
		senders = append(senders, s)
	}
	slices.SortFunc(senders, func(a, b Sender) int {
		return slices.Compare([]int{int(a.LID), a.Port, a.Trap}, []int{int(b.LID), b.Port, b.Trap})
	})
	for _, s := range senders {
		times := slices.DeleteFunc(slices.Clone(l.Traps[s]), func(t time.Time) bool { return now.Sub(t) > RecentSMLog })
		most, since := 0, time.Time{}
		for _, t := range times {
			if n, from := within(times, t, stormTime); n > most {
				most, since = n, from
			}
		}
		if most < stormTraps {
			continue
		}
		at, name := s.Place(f)
		r.Add(TrapStorm, at, "its cable and its peer; changes since=1h",
			"%s sent %s at least %d times within %v", name, s.Name(), most, stormTime)
		r.Problems[len(r.Problems)-1].Since = since
	}
}

// within returns the number of times in the span before now, and the first of them.
func within(times []time.Time, now time.Time, span time.Duration) (n int, first time.Time) {
	for _, t := range times {
		if d := now.Sub(t); d < 0 || d > span {
			continue
		}
		if n++; first.IsZero() || t.Before(first) {
			first = t
		}
	}
	return n, first
}

// Name returns the name of the trap: "trap 128".
func (s Sender) Name() string {
	if s.Trap == 0 {
		return "a vendor's notice"
	}
	return fmt.Sprintf("trap %d", s.Trap)
}

// Place returns the place of the sender in a fabric, and its name. The name has the LID if the fabric does not have it.
func (s Sender) Place(f *fabric.Fabric) (Place, string) {
	p := f.PortByLID(s.LID)
	if p == fabric.None {
		name := fmt.Sprintf("LID %d", s.LID)
		if s.Port > 0 {
			name += fmt.Sprintf(" port %d", s.Port)
		}
		return Place{Port: -1, Name: name}, name
	}
	if s.Port > 0 {
		if q := f.PortAt(f.Ports[p].Node, s.Port); q != fabric.None {
			p = q
		}
	}
	if n := f.Ports[p].Node; f.Ports[p].Num == 0 {
		return PlaceOfNode(f, n), f.NodeName(n)
	}
	return PlaceOfPort(f, p), f.PortName(p)
}
