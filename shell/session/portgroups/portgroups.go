// SPDX-License-Identifier: Apache-2.0

// Package portgroups adds port groups for adaptive routing to forwarding tables.
package portgroups

import (
	"context"
	"errors"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/adaptive"
	"example.org/ibconsole/routing/engines/minhop"
	"example.org/ibconsole/routing/engines/updn"
	"example.org/ibconsole/shell/session/settings"
)

// Report describes groups.
type Report struct {
	By       string // the engine whose hops the groups are of: updn, or minhop if updn refuses
	Why      string // why updn refuses
	Switches int    // switches with groups
	Groups   int
}

// Always returns tables with port groups that contain all ports on shortest up/down paths. If the fabric has no roots,
// they contain all ports on shortest paths.
func Always(ctx context.Context, set *settings.Settings, t *fabric.Tables) (*fabric.Tables, Report, error) {
	return grouped(ctx, set, t, adaptive.Always)
}

// Completed adds the port groups that the settings define for an engine to tables that the engine computed. If the
// settings define no groups, it adds groups only if isAdapting is set.
func Completed(ctx context.Context, set *settings.Settings, isAdapting bool, t *fabric.Tables) (*fabric.Tables, error) {
	switch kind, how := set.Groups(t.Origin); {
	case kind == settings.LinkGroups:
		return adaptive.Aggregated(ctx, t, how)
	case kind == settings.TreeGroups || isAdapting:
		with, _, err := grouped(ctx, set, t, how)
		return with, err
	}
	return t, nil
}

// grouped returns tables with port groups. The groups follow from the hop counts of up/down routing with the roots in
// the settings.
func grouped(ctx context.Context, set *settings.Settings, t *fabric.Tables, how adaptive.How) (*fabric.Tables, Report,
	error) {
	rep := Report{By: updn.Engine{}.Name()}
	opt := set.Job().Options
	opt.Progress = nil
	res, err := updn.Engine{}.Route(ctx, t.Fabric, opt)
	if refused, ok := errors.AsType[*routing.RefusedError](err); ok {
		rep.By, rep.Why = minhop.Engine{}.Name(), refused.Reason
		res, err = minhop.Engine{}.Route(ctx, t.Fabric, opt)
	}
	if err != nil {
		return nil, rep, fmt.Errorf("count hops for groups: %w", err)
	}
	with, err := adaptive.Grouped(ctx, t, res.Hops, how)
	if err != nil {
		return nil, rep, err
	}
	for i := range with.Adaptive.Switches {
		if n := len(with.Adaptive.Switches[i].Groups) - 1; n > 0 {
			rep.Switches++
			rep.Groups += n
		}
	}
	return with, rep, nil
}
