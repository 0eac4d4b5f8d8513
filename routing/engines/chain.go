// SPDX-License-Identifier: Apache-2.0

package engines

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/assign"
	"example.org/ibconsole/routing/engines/file"
	"example.org/ibconsole/routing/engines/nue"
	"example.org/ibconsole/routing/engines/sssp"
	"example.org/ibconsole/routing/engines/torus"
	"example.org/ibconsole/routing/engines/updn"
)

// NoFallback is the word in a list of engines that prevents the fallback to minhop if all listed engines refuse
// (OpenSM's -R updn,no_fallback).
const NoFallback = "no_fallback"

// Refusal is the reason why an engine of a chain refused to route.
type Refusal struct {
	Engine, Reason string
	// TooFewVLs reports that the engine may accept the subnet with more VLs.
	TooFewVLs bool
	// File reports that the engine refused the contents of a file of its options.
	File bool
}

// String returns the engine and the reason.
func (r Refusal) String() string { return r.Engine + ": " + r.Reason }

// NoneError reports that all engines of a chain refused.
type NoneError struct{ Refusals []Refusal }

func (e *NoneError) Error() string {
	var reasons []string
	for _, r := range e.Refusals {
		reasons = append(reasons, r.String())
	}
	return "no engine routes this subnet: " + strings.Join(reasons, "; ")
}

// Try returns the result of the first engine of a chain that does not refuse, and the refusals of the engines before
// it. The Origin of the tables is the name of the engine. Try returns a [NoneError] if all engines refuse. It returns
// any other error of an engine at once.
func Try(ctx context.Context, chain []routing.Engine, f *fabric.Fabric, opt routing.Options) (*routing.Result,
	[]Refusal, error) {
	var refusals []Refusal
	var prior routing.LIDHops
	for _, e := range chain {
		res, err := routing.Route(ctx, e, f, opt)
		var refused *routing.RefusedError
		switch {
		case err == nil:
			if prior != nil {
				combine(res, prior)
			}
			res.Recommend = recommend(e, res, &opt)
			return res, refusals, nil
		case !errors.As(err, &refused):
			return nil, refusals, err
		}
		if refused.Counted != nil {
			opt.Counted = refused.Counted
		}
		if refused.Hops != nil {
			prior = over(f, refused.Hops, prior)
			opt.CountedHops = prior
		}
		refusals = append(refusals, Refusal{Engine: e.Name(), Reason: refused.Reason, TooFewVLs: refused.TooFewVLs,
			File: refused.File})
	}
	return nil, refusals, &NoneError{Refusals: refusals}
}

// Chain returns the engines with the given names. It looks for each name among the engines in the argument more, then
// in [All]. minhop follows as the last engine unless the names contain NoFallback. Chain returns an error if a name is
// unknown or the chain is empty.
func Chain(names []string, more ...routing.Engine) ([]routing.Engine, error) {
	var chain []routing.Engine
	fallback := true
	for _, name := range names {
		if name == NoFallback {
			fallback = false
			continue
		}
		e, err := ByName(name, more...)
		if err != nil {
			return nil, err
		}
		chain = append(chain, e)
	}
	if fallback {
		e, err := ByName(Default)
		if err != nil {
			return nil, err
		}
		chain = append(chain, e)
	}
	if len(chain) == 0 {
		return nil, fmt.Errorf("%s requires an engine in the list", NoFallback)
	}
	return chain, nil
}

// recommend returns the value of [routing.Result.Recommend] for the tables of an engine.
func recommend(e routing.Engine, res *routing.Result, opt *routing.Options) func(routing.Hops) routing.Recommend {
	var applied *fabric.Tables
	var own *fabric.LFT
	loaded, isFile := e.(file.Engine)
	switch res.Tables.Origin {
	case file.Name:
		if isFile && loaded.Routes == nil {
			own = res.Tables.LFT // routed by the loaded hop counts
		} else {
			applied = res.Tables
		}
	// These engines count the uses of ports, but do not route by them.
	case nue.Name, sssp.Engine{}.Name(), sssp.DeadlockFree{}.Name():
		own = res.Tables.LFT
	}
	return func(h routing.Hops) routing.Recommend {
		return assign.Recommend(res.Tables.Fabric, h, opt, own, applied)
	}
}

// combine adjusts the hop counts of an engine's result if another engine had counted hops before and refused. OpenSM
// has one hop count matrix for the whole chain (osm_ucast_mgr.c). torus-2QoS does not change the matrix. updn and dnup
// clear it except for connected roots. The other engines overwrite parts of it.
func combine(res *routing.Result, prior routing.LIDHops) {
	switch res.Tables.Origin {
	case torus.Engine{}.Name():
		res.Hops = prior
	case updn.Engine{}.Name(), updn.DnUp{}.Name():
		// Routes to roots use only the LIDs of their switches, and these are counted again.
	default:
		res.Hops = over(res.Tables.Fabric, res.Hops, prior)
	}
}

// over returns the hop counts of an engine combined with those of earlier engines. The argument prior is nil if there
// are no earlier counts.
func over(f *fabric.Fabric, hops routing.Hops, prior routing.LIDHops) routing.LIDHops {
	own, all := hops.(routing.LIDHops)
	switch {
	case all && prior == nil:
		return own
	case all:
		return overHops{f, own, prior}
	}
	return switchHops{hops, f, prior}
}

// overHops combines hop counts. own has the count by one port to each LID. prior has the counts of earlier engines by
// other ports. The least count is the minimum of both.
type overHops struct {
	f          *fabric.Fabric
	own, prior routing.LIDHops
}

// LeastTo implements [routing.LIDHops].
func (h overHops) LeastTo(sw fabric.SwitchIndex, lid uint16) uint8 {
	return min(h.own.LeastTo(sw, lid), h.prior.LeastTo(sw, lid))
}

// ThroughTo implements [routing.LIDHops]. Port 0 stands for the best port.
func (h overHops) ThroughTo(sw fabric.SwitchIndex, port uint8, lid uint16) uint8 {
	if port == 0 {
		return h.LeastTo(sw, lid)
	}
	if n := h.own.ThroughTo(sw, port, lid); n != routing.NoHops {
		return n
	}
	return h.prior.ThroughTo(sw, port, lid)
}

// Least implements [routing.Hops].
func (h overHops) Least(sw, dst fabric.SwitchIndex) uint8 { return h.LeastTo(sw, h.f.SwitchLID(dst)) }

// Through implements [routing.Hops].
func (h overHops) Through(sw fabric.SwitchIndex, port uint8, dst fabric.SwitchIndex) uint8 {
	return h.ThroughTo(sw, port, h.f.SwitchLID(dst))
}

// switchHops combines hop counts. Hops has the engine's counts to switches. prior has the counts of earlier engines to
// all other LIDs, or is nil.
type switchHops struct {
	routing.Hops
	f     *fabric.Fabric
	prior routing.LIDHops
}

// LeastTo implements [routing.LIDHops].
func (h switchHops) LeastTo(sw fabric.SwitchIndex, lid uint16) uint8 {
	switch dst := h.switchOf(lid); {
	case dst != fabric.None:
		return h.Least(sw, dst)
	case h.prior == nil:
		return routing.NoHops
	}
	return h.prior.LeastTo(sw, lid)
}

// ThroughTo implements [routing.LIDHops].
func (h switchHops) ThroughTo(sw fabric.SwitchIndex, port uint8, lid uint16) uint8 {
	switch dst := h.switchOf(lid); {
	case dst != fabric.None:
		return h.Through(sw, port, dst)
	case h.prior == nil:
		return routing.NoHops
	}
	return h.prior.ThroughTo(sw, port, lid)
}

// switchOf returns the switch whose first LID is lid, or None.
func (h switchHops) switchOf(lid uint16) fabric.SwitchIndex {
	e := h.f.PortByLID(lid)
	if e == fabric.None || h.f.Ports[e].LID != lid {
		return fabric.None
	}
	return h.f.Nodes[h.f.Ports[e].Node].Switch
}
