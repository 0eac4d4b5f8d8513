// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/shell/session/connection"
)

// Counted is a reading of counters with the increases since the previous reading.
type Counted struct {
	Reading *counters.Reading // the later one
	Deltas  []counters.Delta
	When    time.Time
}

// Counters reads the counters of ports of the live fabric. Without ports it reads the counters of all ports. It also
// returns the increases since this session last read the counters of these ports.
func (s *Session) Counters(ctx context.Context, ports ...fabric.PortIndex) (*counters.Reading,
	[]counters.Delta, error) {
	op, err := s.Begin(ctx, "counters")
	if err != nil {
		return nil, nil, err
	}
	defer op.End()
	st := s.State()
	if st.Source.Offline() {
		return st.readCounters(ports)
	}
	l, err := s.conn.Line()
	if err != nil {
		return nil, nil, err
	}
	now, err := counters.Read(ctx, l.Client, st.Live.Fabric, st.CounterOptions(op.Progress), ports...)
	if err != nil {
		return nil, nil, s.conn.Failed(l, err)
	}
	deltas := s.ledger.Take(now)
	s.standing(now)
	if len(ports) == 0 {
		s.Publish(ChangeLive, func(st *State) {
			st.NoneCounted(now)
			if len(deltas) > 0 {
				st.Counted = &Counted{now, deltas, time.Now()}
			}
		})
	}
	if len(ports) == 0 || s.counted == nil {
		s.counted = now
	}
	return now, deltas, nil
}

// Ticks reads the ticks of XmitWait of ports of the live fabric. For a file it returns none.
func (s *Session) Ticks(ctx context.Context, ports ...fabric.PortIndex) (map[fabric.PortIndex]uint8, error) {
	op, err := s.Begin(ctx, "counters")
	if err != nil {
		return nil, err
	}
	defer op.End()
	st := s.State()
	if st.Source.Offline() {
		return nil, nil
	}
	l, err := s.conn.Line()
	if err != nil {
		return nil, err
	}
	ticks, err := counters.Ticks(ctx, l.Client, st.Live.Fabric, st.CounterOptions(op.Progress), ports...)
	if err != nil {
		return nil, s.conn.Failed(l, err)
	}
	return ticks, nil
}

// NoneCounted stores the unanswered ports of a reading of all counters if no port responded.
func (n *Counts) NoneCounted(now *counters.Reading) {
	n.Uncounted = nil
	if len(now.Ports) == 0 {
		n.Uncounted = now.Unanswered
	}
}

// standing updates which counters are at their maximum, and since when, from a reading.
func (s *Session) standing(now *counters.Reading) {
	fresh := maps.Clone(s.State().Standing)
	if fresh == nil {
		fresh = map[counters.Key][]counters.Standing{}
	}
	for i := range now.Ports {
		key := counters.KeyOf(now.Fabric, now.Ports[i].Port)
		if list := s.ledger.Standing(key); list != nil {
			fresh[key] = list
		} else {
			delete(fresh, key)
		}
	}
	s.Publish(ChangeLive, func(st *State) { st.Standing = fresh })
}

// ErrNoCounters is returned for a file that has no counters.
var ErrNoCounters = fmt.Errorf("the file has no counters, as an ibdiagnet folder may have: %w",
	connection.ErrOffline)

// readCounters returns the counters of ports from the file of the subnet. Without ports it returns those of all ports.
func (st *State) readCounters(ports []fabric.PortIndex) (*counters.Reading, []counters.Delta, error) {
	if st.Read == nil {
		return nil, nil, ErrNoCounters
	}
	all := *st.Read
	if len(ports) > 0 {
		all.Ports = slices.DeleteFunc(slices.Clone(all.Ports), func(p counters.Port) bool {
			return !slices.Contains(ports, p.Port)
		})
	}
	all.Unanswered = slices.Concat(all.Unanswered, notInFile(st.Live.Fabric, &all, ports))
	if st.Counted == nil {
		return &all, nil, nil
	}
	return &all, st.Counted.Deltas, nil
}

// errNotInFile is the reason for a port whose counters are not in the file.
var errNotInFile = errors.New("the file has no counters of this port")

// notInFile returns the ports that are missing in a reading. If ports were named, it returns each missing port.
// Otherwise it returns a single entry for all linked ports.
func notInFile(f *fabric.Fabric, r *counters.Reading, ports []fabric.PortIndex) (list []counters.Unanswered) {
	has := make(map[fabric.PortIndex]bool, len(r.Ports))
	for i := range r.Ports {
		has[r.Ports[i].Port] = true
	}
	named := ports != nil
	if !named {
		ports = counters.AllPorts(f)
	}
	for _, p := range ports {
		switch {
		case has[p], !f.Ports[p].Linked() && !named:
		case !named && list != nil:
			list[0].Count++
		default:
			list = append(list, counters.Unanswered{Port: p, Name: f.PortName(p), Count: 1, Err: errNotInFile})
		}
	}
	return list
}

// CounterOptions returns the options for reading counters of the live subnet.
func (st *State) CounterOptions(progress func(done, total int)) counters.Options {
	opt := counters.Options{Progress: progress}
	if st.Live.Tables != nil {
		opt.SLs = st.Live.Tables.SLs
	}
	return opt
}
