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
)

// NoFallback is the word in a chain that keeps minhop from routing where all
// engines named refuse (OpenSM's -R updn,no_fallback).
const NoFallback = "no_fallback"

// Refusal says why an engine of a chain did not route.
type Refusal struct {
	Engine, Reason string
	// TooFewVLs says that with more VLs it would have routed.
	TooFewVLs bool
	// File says that it does not take a file of its options.
	File bool
}

// String is the engine and the reason.
func (r Refusal) String() string { return r.Engine + ": " + r.Reason }

// NoneError says that all engines of a chain refused.
type NoneError struct{ Refusals []Refusal }

func (e *NoneError) Error() string {
	var reasons []string
	for _, r := range e.Refusals {
		reasons = append(reasons, r.String())
	}
	return "no engine routes this subnet: " + strings.Join(reasons, "; ")
}

// Try tries engines in their order and returns what the first one computed that did
// not refuse; the tables' Origin names it. With it come the refusals before. It fails
// with a [NoneError] where all refuse, and stops at any other error.
func Try(ctx context.Context, chain []routing.Engine, f *fabric.Fabric, opt routing.Options) (*routing.Result,
	[]Refusal, error) {
	var refusals []Refusal
	var left routing.LIDHops
	for _, e := range chain {
		res, err := routing.Route(ctx, e, f, opt)
		var refused *routing.RefusedError
		switch {
		case err == nil:
			if left != nil {
				leave(res, left)
			}
			res.Recommend = recommend(res, &opt)
			return res, refusals, nil
		case !errors.As(err, &refused):
			return nil, refusals, err
		}
		if refused.Counted != nil {
			opt.Counted = refused.Counted
		}
		if refused.Hops != nil {
			left = over(f, refused.Hops, left)
			opt.CountedHops = left
		}
		refusals = append(refusals, Refusal{Engine: e.Name(), Reason: refused.Reason, TooFewVLs: refused.TooFewVLs,
			File: refused.File})
	}
	return nil, refusals, &NoneError{Refusals: refusals}
}

// Chain are the engines of these names, looked for among more and then among [All], and then minhop unless
// NoFallback is among the names. It fails on an unknown name, and where nothing is left to try.
func Chain(names []string, more ...routing.Engine) ([]routing.Engine, error) {
	var chain []routing.Engine
	fallback := true
	for _, name := range names {
		if name == NoFallback {
			fallback = false
			continue
		}
		e, err := find(name, more)
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
		return nil, fmt.Errorf("%s without an engine leaves none to route", NoFallback)
	}
	return chain, nil
}

// recommend is [routing.Result.Recommend] of tables that an engine made.
func recommend(res *routing.Result, opt *routing.Options) func(routing.Hops) routing.Recommend {
	var laid *fabric.Tables
	var own *fabric.LFT
	switch res.Tables.Origin {
	case file.Name:
		laid = res.Tables
	// count the use of ports, though they do not go by it
	case nue.Name, sssp.Engine{}.Name(), sssp.DeadlockFree{}.Name():
		own = res.Tables.LFT
	}
	return func(h routing.Hops) routing.Recommend { return assign.Recommend(res.Tables.Fabric, h, opt, own, laid) }
}
