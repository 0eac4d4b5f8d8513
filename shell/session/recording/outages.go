// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"context"
	"errors"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/shell/session"
)

// linkObserver stores the outages of links that sweeps of a session find.
type linkObserver struct {
	session *session.Session
	after   time.Time        // the changes up to then are stored
	before  *session.Picture // the state at the last observation
	// pairs are the numbers of pairs that used links before they went down, by the port of one end.
	pairs map[counters.Key]int64
}

// observe stores the changes of links since the last call, and the links that are down. It computes the paths of the
// previous state only if links went down.
func (o *linkObserver) observe(ctx context.Context, store *records.Store, now time.Time) error {
	st := o.session.State()
	after, pairs := o.after, map[counters.Key]int64{}
	used := func(a fabric.End) (n int64, err error) {
		key, known := counters.KeyOfEnd(a), false
		if n, known = o.pairs[key]; !known {
			n, err = o.pairsOver(ctx, key)
		}
		pairs[key] = n
		return n, err
	}
	var changes []records.LinkChange
	lastUp := map[counters.Key]time.Time{}
	for i := range st.Events {
		e := &st.Events[i]
		if e.Change == nil || !e.When.After(o.after) {
			continue
		}
		after = e.When
		c := records.LinkChange{When: relabel(e.When, now), A: e.Change.At, B: e.Change.Peer}
		switch e.Change.Kind {
		case fabric.LinkUp:
			c.Up, lastUp[counters.KeyOfEnd(c.A)] = true, e.When
		case fabric.LinkDown:
			var err error
			if c.Pairs, err = used(c.A); err != nil {
				return err
			}
			c.WasUp = lastUp[counters.KeyOfEnd(c.A)]
			if c.WasUp.IsZero() && isLinked(o.before.Fabric, c.A, c.B) {
				c.WasUp = o.before.When
			}
			c.WasUp = relabel(c.WasUp, now)
		default:
			continue
		}
		changes = append(changes, c)
	}
	var down []records.Outage
	for i := range st.Losses {
		x := &st.Losses[i]
		if !x.Link() || x.Unseen {
			continue
		}
		n, err := used(x.At)
		if err != nil {
			return err
		}
		down = append(down, records.Outage{A: x.At, B: x.Peer, WasUp: relabel(x.Since, now), Pairs: n})
	}
	swept := relabel(st.Live.When, now)
	err := store.ObserveLinks(ctx, o.session.Subnet(), swept, changes, down, func(a, b fabric.End) bool {
		return isLinked(st.Live.Fabric, a, b)
	})
	if err == nil {
		o.after, o.before, o.pairs = after, st.Live, pairs
	}
	return err
}

// relabel returns an earlier time of this process according to the present clock. The clock may have been set since
// that time.
func relabel(t, now time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return now.Add(t.Sub(now))
}

// isLinked reports whether a fabric has the link between two ports.
func isLinked(f *fabric.Fabric, a, b fabric.End) bool {
	p := counters.KeyOfEnd(a).In(f)
	return p != fabric.None && f.Ports[p].Linked() && counters.KeyOf(f, f.Ports[p].Peer) == counters.KeyOfEnd(b)
}

// pairsOver returns the number of pairs of end ports whose paths use the link of a port in the previous state, -1 if
// unknown.
func (o *linkObserver) pairsOver(ctx context.Context, key counters.Key) (int64, error) {
	f := o.before.Fabric
	p := key.In(f)
	if p == fabric.None || !f.Ports[p].Linked() || o.before.Tables == nil {
		return -1, nil
	}
	l, err := o.session.Analysis().Load(ctx, o.before.Tables, linkload.Options{})
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return -1, err
	case err != nil || l.Unknown > 0:
		return -1, nil
	}
	return l.Paths[p] + l.Paths[f.Ports[p].Peer], nil
}
