// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"sync"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/changes/incremental"
	"example.org/ibconsole/routing/checks/reach"
)

// prepared is what was made of one set of tables, so that what a failure changes
// is found by looking at that alone. Each part is made when it is first wanted.
type prepared struct {
	mu     sync.Mutex
	tables *fabric.Tables
	base   *incremental.Base
	// reach is by whether switches count among the end ports.
	reach map[bool]*reach.Base
	diff  *diff.Base
}

// routes prepares tables to be routed from. The caller holds mu.
func (p *prepared) routes(ctx context.Context, t *fabric.Tables) (*incremental.Base, error) {
	if p.tables == t {
		return p.base, nil
	}
	base, err := incremental.NewBase(ctx, t)
	if err != nil {
		return nil, err
	}
	p.tables, p.base, p.reach, p.diff = t, base, map[bool]*reach.Base{}, nil
	return base, nil
}

// routesFrom are tables to route from.
func (s *Session) routesFrom(ctx context.Context, t *fabric.Tables) (*incremental.Base, error) {
	s.prepared.mu.Lock()
	defer s.prepared.mu.Unlock()
	return s.prepared.routes(ctx, t)
}

// adapted says whether tables are others for a part of their fabric.
func adapted(from, to *fabric.Tables) bool {
	if from == nil || from == to {
		return false
	}
	if _, ok := to.LFT.EditsOf(from.LFT); !ok {
		return false
	}
	_, ok := fabric.Removed(from.Fabric, to.Fabric)
	return ok
}

// CheckReach follows all paths of a picture with tables. Of tables that were adapted
// to what failed it follows those that are others than in the base.
func (s *Session) CheckReach(ctx context.Context, p *Picture, opt reach.Options) (*reach.Result, error) {
	st := s.State()
	from := st.paperBase().Tables
	if opt.Examples != 0 || !adapted(from, p.Tables) {
		return reach.Check(ctx, p.Tables, opt)
	}
	base, err := s.reachFrom(ctx, from, opt)
	if err != nil {
		return nil, err
	}
	return base.Check(ctx, p.Tables)
}

func (s *Session) reachFrom(ctx context.Context, t *fabric.Tables, opt reach.Options) (*reach.Base, error) {
	p := &s.prepared
	p.mu.Lock()
	defer p.mu.Unlock()
	routes, err := p.routes(ctx, t)
	if err != nil {
		return nil, err
	}
	if base := p.reach[opt.Switches]; base != nil {
		return base, nil
	}
	base, err := reach.NewBase(ctx, routes.Forest, opt)
	if err == nil {
		p.reach[opt.Switches] = base
	}
	return base, err
}

// compare compares two sets of tables, by what is other where the later ones were
// adapted.
func (s *Session) compare(ctx context.Context, from, to *fabric.Tables) (*diff.Result, error) {
	opt := diff.Options{Progress: s.progress}
	if !adapted(from, to) {
		return diff.Compare(ctx, from, to, opt)
	}
	base, err := s.diffFrom(ctx, from)
	if err != nil {
		return nil, err
	}
	return base.Compare(ctx, to, opt)
}

func (s *Session) diffFrom(ctx context.Context, t *fabric.Tables) (*diff.Base, error) {
	p := &s.prepared
	p.mu.Lock()
	defer p.mu.Unlock()
	routes, err := p.routes(ctx, t)
	if err != nil || p.diff != nil {
		return p.diff, err
	}
	p.diff, err = diff.NewBase(ctx, routes.Forest)
	return p.diff, err
}
