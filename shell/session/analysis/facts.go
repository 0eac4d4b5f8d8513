// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"context"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/changes/incremental"
	"example.org/ibconsole/routing/changes/resilience"
	"example.org/ibconsole/routing/checks/choices"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/routing/checks/reach"
)

// saying is what a fact says of tables.
type saying uint8

const (
	reaches saying = iota
	loads
	loops
	differs
	chosen
	failsOver
	shared
	// What follows prepares tables for others that are adapted from them.
	routesFrom
	reachesFrom
	differsFrom
)

func (s saying) prepares() bool { return s >= routesFrom }

// Reach is [reach.Check]. Of tables that were adapted from the base it follows no more paths than are others.
func (m *Memo) Reach(ctx context.Context, t *fabric.Tables, opt reach.Options) (*reach.Result, error) {
	k := key{says: reaches, of: t, switches: opt.Switches, examples: opt.Examples}
	return ask(ctx, m, k, opt.Progress, func(ctx context.Context, p progress) (*reach.Result, error) {
		opt := opt
		opt.Progress = p
		base := m.from(t)
		if base == nil || opt.Examples != 0 {
			return reach.Check(ctx, t, opt)
		}
		from, err := m.reachesFrom(ctx, base, opt)
		if err != nil {
			return nil, err
		}
		return from.Check(ctx, t)
	})
}

func (m *Memo) reachesFrom(ctx context.Context, base *fabric.Tables, opt reach.Options) (*reach.Base, error) {
	k := key{says: reachesFrom, of: base, switches: opt.Switches}
	return ask(ctx, m, k, opt.Progress, func(ctx context.Context, p progress) (*reach.Base, error) {
		routes, err := m.RoutesFrom(ctx, base)
		if err != nil {
			return nil, err
		}
		return reach.NewBase(ctx, routes.Forest, reach.Options{Switches: opt.Switches, Progress: p})
	})
}

// Load is [linkload.AllToAll].
func (m *Memo) Load(ctx context.Context, t *fabric.Tables, opt linkload.Options) (*linkload.Loads, error) {
	k := key{says: loads, of: t, switches: opt.Switches}
	return ask(ctx, m, k, opt.Progress, func(ctx context.Context, p progress) (*linkload.Loads, error) {
		return linkload.AllToAll(ctx, t, linkload.Options{Switches: opt.Switches, Progress: p})
	})
}

// Credits is [credits.Check]. What depends on the service levels of multicast groups, or is
// about some paths alone, is not remembered.
func (m *Memo) Credits(ctx context.Context, t *fabric.Tables, opt credits.Options) (*credits.Result, error) {
	if opt.GroupSL != nil || opt.Paths != nil {
		return credits.Check(ctx, t, opt)
	}
	k := key{says: loops, of: t, switches: opt.Switches}
	return ask(ctx, m, k, opt.Progress, func(ctx context.Context, p progress) (*credits.Result, error) {
		return credits.Check(ctx, t, credits.Options{Switches: opt.Switches, Progress: p})
	})
}

// Diff is [diff.Compare]. Tables that were adapted from the base it compares with that by what is other.
func (m *Memo) Diff(ctx context.Context, before, after *fabric.Tables, opt diff.Options) (*diff.Result, error) {
	k := key{says: differs, of: before, and: after, examples: opt.Examples}
	return ask(ctx, m, k, opt.Progress, func(ctx context.Context, p progress) (*diff.Result, error) {
		opt := opt
		opt.Progress = p
		if m.from(after) != before {
			return diff.Compare(ctx, before, after, opt)
		}
		from, err := m.differsFrom(ctx, before)
		if err != nil {
			return nil, err
		}
		return from.Compare(ctx, after, opt)
	})
}

func (m *Memo) differsFrom(ctx context.Context, base *fabric.Tables) (*diff.Base, error) {
	return ask(ctx, m, key{says: differsFrom, of: base}, nil,
		func(ctx context.Context, _ progress) (*diff.Base, error) {
			routes, err := m.RoutesFrom(ctx, base)
			if err != nil {
				return nil, err
			}
			return diff.NewBase(ctx, routes.Forest)
		})
}

// Study prepares a study of what failures of a kind do to tables.
func (m *Memo) Study(ctx context.Context, t *fabric.Tables, kind resilience.Kind) (*resilience.Study, error) {
	base, err := m.RoutesFrom(ctx, t)
	if err != nil {
		return nil, err
	}
	return resilience.New(ctx, base, kind)
}

// RoutesFrom is [incremental.NewBase].
func (m *Memo) RoutesFrom(ctx context.Context, t *fabric.Tables) (*incremental.Base, error) {
	return ask(ctx, m, key{
		says: routesFrom, of: t,
	}, nil, func(ctx context.Context, _ progress) (*incremental.Base, error) {
		return incremental.NewBase(ctx, t)
	})
}

// KnownReach is what [Memo.Reach] found before, nil where it was not asked or nobody remembers.
func (m *Memo) KnownReach(t *fabric.Tables) *reach.Result {
	r, _ := m.known(key{says: reaches, of: t}).(*reach.Result)
	return r
}

// KnownLoad is what [Memo.Load] found before, as KnownReach is.
func (m *Memo) KnownLoad(t *fabric.Tables) *linkload.Loads {
	l, _ := m.known(key{says: loads, of: t}).(*linkload.Loads)
	return l
}

// KnownCredits is what [Memo.Credits] found before, as KnownReach is.
func (m *Memo) KnownCredits(t *fabric.Tables) *credits.Result {
	r, _ := m.known(key{says: loops, of: t}).(*credits.Result)
	return r
}

func (m *Memo) known(k key) any {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.facts[k]; f != nil && f.known {
		return f.value
	}
	return nil
}

// Choices is [choices.Check].
func (m *Memo) Choices(ctx context.Context, t *fabric.Tables, opt choices.Options) (*choices.Result, error) {
	k := key{says: chosen, of: t, switches: opt.Switches, examples: opt.Examples}
	return ask(ctx, m, k, opt.Progress, func(ctx context.Context, p progress) (*choices.Result, error) {
		opt := opt
		opt.Progress = p
		return choices.Check(ctx, t, opt)
	})
}

// FailOver is [choices.FailOver].
func (m *Memo) FailOver(ctx context.Context, before, after *fabric.Tables, opt choices.Options) (*choices.Failover,
	error) {
	k := key{says: failsOver, of: before, and: after, switches: opt.Switches, examples: opt.Examples}
	return ask(ctx, m, k, opt.Progress, func(ctx context.Context, p progress) (*choices.Failover, error) {
		opt := opt
		opt.Progress = p
		return choices.FailOver(ctx, before, after, opt)
	})
}

// Shares is [choices.AllToAll].
func (m *Memo) Shares(ctx context.Context, t *fabric.Tables, opt choices.Options) (*choices.Loads, error) {
	k := key{says: shared, of: t, switches: opt.Switches}
	return ask(ctx, m, k, opt.Progress, func(ctx context.Context, p progress) (*choices.Loads, error) {
		opt := opt
		opt.Progress = p
		return choices.AllToAll(ctx, t, opt)
	})
}
