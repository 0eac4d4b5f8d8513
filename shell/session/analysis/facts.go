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

// factKind is a kind of fact about tables.
type factKind uint8

const (
	reachFact factKind = iota
	loadFact
	creditFact
	diffFact
	choicesFact
	failoverFact
	sharesFact
	// The following kinds are preparations: data about a base that speeds up checks of tables that were adapted from
	// this base.
	routesBase
	reachBase
	diffBase
)

func (k factKind) isPreparation() bool { return k >= routesBase }

// Reach returns the result of [reach.Check]. If the tables were adapted from the base, it follows only the paths that
// differ.
func (m *Memo) Reach(ctx context.Context, t *fabric.Tables, opt reach.Options) (*reach.Result, error) {
	k := key{kind: reachFact, of: t, switches: opt.Switches, examples: opt.Examples}
	return ask(ctx, m, k, opt.Progress, func(ctx context.Context, p progress) (*reach.Result, error) {
		opt := opt
		opt.Progress = p
		base := m.baseOf(t)
		if base == nil || opt.Examples != 0 {
			return reach.Check(ctx, t, opt)
		}
		from, err := m.reachBase(ctx, base, opt)
		if err != nil {
			return nil, err
		}
		return from.Check(ctx, t)
	})
}

func (m *Memo) reachBase(ctx context.Context, base *fabric.Tables, opt reach.Options) (*reach.Base, error) {
	k := key{kind: reachBase, of: base, switches: opt.Switches}
	return ask(ctx, m, k, opt.Progress, func(ctx context.Context, p progress) (*reach.Base, error) {
		routes, err := m.RoutesFrom(ctx, base)
		if err != nil {
			return nil, err
		}
		return reach.NewBase(ctx, routes.Forest, reach.Options{Switches: opt.Switches, Progress: p})
	})
}

// Load returns the result of [linkload.AllToAll].
func (m *Memo) Load(ctx context.Context, t *fabric.Tables, opt linkload.Options) (*linkload.Loads, error) {
	k := key{kind: loadFact, of: t, switches: opt.Switches}
	return ask(ctx, m, k, opt.Progress, func(ctx context.Context, p progress) (*linkload.Loads, error) {
		return linkload.AllToAll(ctx, t, linkload.Options{Switches: opt.Switches, Progress: p})
	})
}

// Credits returns the result of [credits.Check]. It does not cache results for the service levels of multicast groups,
// or for selected paths.
func (m *Memo) Credits(ctx context.Context, t *fabric.Tables, opt credits.Options) (*credits.Result, error) {
	if opt.GroupSL != nil || opt.Paths != nil {
		return credits.Check(ctx, t, opt)
	}
	k := key{kind: creditFact, of: t, switches: opt.Switches}
	return ask(ctx, m, k, opt.Progress, func(ctx context.Context, p progress) (*credits.Result, error) {
		return credits.Check(ctx, t, credits.Options{Switches: opt.Switches, Progress: p})
	})
}

// Diff returns the result of [diff.Compare]. If the tables were adapted from the base, it compares only the parts that
// differ.
func (m *Memo) Diff(ctx context.Context, before, after *fabric.Tables, opt diff.Options) (*diff.Result, error) {
	k := key{kind: diffFact, of: before, and: after, examples: opt.Examples}
	return ask(ctx, m, k, opt.Progress, func(ctx context.Context, p progress) (*diff.Result, error) {
		opt := opt
		opt.Progress = p
		if m.baseOf(after) != before {
			return diff.Compare(ctx, before, after, opt)
		}
		from, err := m.diffBase(ctx, before)
		if err != nil {
			return nil, err
		}
		return from.Compare(ctx, after, opt)
	})
}

func (m *Memo) diffBase(ctx context.Context, base *fabric.Tables) (*diff.Base, error) {
	return ask(ctx, m, key{kind: diffBase, of: base}, nil,
		func(ctx context.Context, _ progress) (*diff.Base, error) {
			routes, err := m.RoutesFrom(ctx, base)
			if err != nil {
				return nil, err
			}
			return diff.NewBase(ctx, routes.Forest)
		})
}

// Study prepares a study of how failures of a kind affect tables.
func (m *Memo) Study(ctx context.Context, t *fabric.Tables, kind resilience.Kind) (*resilience.Study, error) {
	base, err := m.RoutesFrom(ctx, t)
	if err != nil {
		return nil, err
	}
	return resilience.New(ctx, base, kind)
}

// RoutesFrom returns the result of [incremental.NewBase].
func (m *Memo) RoutesFrom(ctx context.Context, t *fabric.Tables) (*incremental.Base, error) {
	return ask(ctx, m, key{kind: routesBase, of: t}, nil,
		func(ctx context.Context, _ progress) (*incremental.Base, error) { return incremental.NewBase(ctx, t) })
}

// KnownReach returns the cached result of [Memo.Reach], or nil. It computes nothing.
func (m *Memo) KnownReach(t *fabric.Tables) *reach.Result {
	r, _ := m.known(key{kind: reachFact, of: t}).(*reach.Result)
	return r
}

// KnownLoad returns the cached result of [Memo.Load], or nil. It computes nothing.
func (m *Memo) KnownLoad(t *fabric.Tables) *linkload.Loads {
	l, _ := m.known(key{kind: loadFact, of: t}).(*linkload.Loads)
	return l
}

// KnownCredits returns the cached result of [Memo.Credits], or nil. It computes nothing.
func (m *Memo) KnownCredits(t *fabric.Tables) *credits.Result {
	r, _ := m.known(key{kind: creditFact, of: t}).(*credits.Result)
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

// Choices returns the result of [choices.Check].
func (m *Memo) Choices(ctx context.Context, t *fabric.Tables, opt choices.Options) (*choices.Result, error) {
	k := key{kind: choicesFact, of: t, switches: opt.Switches, examples: opt.Examples}
	return ask(ctx, m, k, opt.Progress, func(ctx context.Context, p progress) (*choices.Result, error) {
		opt := opt
		opt.Progress = p
		return choices.Check(ctx, t, opt)
	})
}

// FailOver returns the result of [choices.FailOver].
func (m *Memo) FailOver(ctx context.Context, before, after *fabric.Tables, opt choices.Options) (*choices.Failover,
	error) {
	k := key{kind: failoverFact, of: before, and: after, switches: opt.Switches, examples: opt.Examples}
	return ask(ctx, m, k, opt.Progress, func(ctx context.Context, p progress) (*choices.Failover, error) {
		opt := opt
		opt.Progress = p
		return choices.FailOver(ctx, before, after, opt)
	})
}

// Shares returns the result of [choices.AllToAll].
func (m *Memo) Shares(ctx context.Context, t *fabric.Tables, opt choices.Options) (*choices.Loads, error) {
	k := key{kind: sharesFact, of: t, switches: opt.Switches}
	return ask(ctx, m, k, opt.Progress, func(ctx context.Context, p progress) (*choices.Loads, error) {
		opt := opt
		opt.Progress = p
		return choices.AllToAll(ctx, t, opt)
	})
}
