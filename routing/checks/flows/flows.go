// SPDX-License-Identifier: Apache-2.0

// Package flows estimates the traffic between pairs of end ports from the data that each port sent, and computes the
// load of links if the same traffic takes the paths of other tables.
//
// Counters give one sum per port. If the paths and these sums leave several solutions, [Estimate] returns the one that
// is closest to traffic in proportion to what the sources sent and the destinations received. [Options.Prefer] selects
// another solution, to find out how far a result is certain.
package flows

import (
	"context"
	"errors"
	"fmt"
	"math"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/routing/checks/walk"
)

// Flow is the traffic of a pair of end ports.
type Flow struct {
	linkload.Pair
	Bytes float64 // per second
	// Least and Most are bounds of Bytes in all solutions, if what the ports sent is known to [uncertain].
	Least, Most float64

	from, to int // in Flows.ports
}

// Flows is the traffic of a subnet.
type Flows struct {
	Tables *fabric.Tables
	All    []Flow
	// Error is the greatest relative difference between the sent data of a port and the sum of its flows.
	Error float64
	// Unknown is the number of pairs whose path uses an unread table.
	Unknown int
	// Partial is set if not all pairs with traffic were kept.
	Partial bool

	ports   []fabric.PortIndex
	partial []bool // by port: not all its pairs are kept
}

// Path returns the ports by which the data of a flow leave nodes.
func (fs *Flows) Path(i int) []fabric.PortIndex { return fs.ports[fs.All[i].from:fs.All[i].to] }

// Unknown is the data of a port that was not read.
const Unknown = -1

// Options controls an estimate.
type Options struct {
	// Prefer returns the weight of a pair with its path, 1 for none. Without it, all pairs have the weight 1.
	Prefer func(p linkload.Pair, path []fabric.PortIndex) float64
	// Keep reports whether a pair is needed. It is used only if there are more than MaxPairs pairs. What a port sent is
	// then an upper bound of its flows, unless all its pairs are kept.
	Keep func(p linkload.Pair, path []fabric.PortIndex) bool
	// MaxPairs is the maximum number of pairs, 0 for [MaxPairs].
	MaxPairs int
}

// MaxPairs is the default maximum number of pairs.
const MaxPairs = 1_000_000

const (
	// silent is the share of its rate up to which a port counts as silent.
	silent = 1e-4
	// rounds is the maximum number of passes over all ports. A pass ends the estimate if all sums are precise.
	rounds  = 300
	precise = 1e-3
)

// ErrTooMany is returned if more pairs may have traffic than the maximum.
var ErrTooMany = errors.New("more pairs")

// Estimate returns the traffic between hosts. The argument sent holds the bytes per second that each port sent, by
// port, or [Unknown]. A pair has traffic only if all ports of its path sent. O(rounds x pairs x hops).
func Estimate(ctx context.Context, t *fabric.Tables, sent []float64, opt Options) (*Flows, error) {
	if opt.MaxPairs == 0 {
		opt.MaxPairs = MaxPairs
	}
	fs := &Flows{Tables: t, partial: make([]bool, len(sent))}
	var from, to []fabric.PortIndex
	for _, e := range t.Fabric.EndPorts {
		if t.Fabric.Nodes[t.Fabric.Ports[e].Node].Type != mad.NodeCA || !t.Fabric.Ports[e].Linked() {
			continue
		}
		if fs.carries(sent, e) {
			from = append(from, e)
		}
		if fs.carries(sent, t.Fabric.Ports[e].Peer) {
			to = append(to, e)
		}
	}
	if len(from)*len(to) <= opt.MaxPairs {
		opt.Keep = nil
	}
	if err := fs.follow(ctx, sent, from, to, &opt); err != nil {
		return nil, err
	}
	if err := fs.fit(ctx, sent); err != nil {
		return nil, err
	}
	fs.bound(sent)
	return fs, nil
}

// uncertain is the relative error of what ports sent: the counters of ports are not read at the same time.
const uncertain = 0.02

// bound computes the lower bounds of the flows: what a port sent, less the upper bounds of its other flows.
func (fs *Flows) bound(sent []float64) {
	for i := range fs.All {
		fs.All[i].Most = math.MaxFloat32
		for _, p := range fs.Path(i) {
			if rate := fs.Tables.Fabric.Ports[p].DataRate(); rate > 0 {
				fs.All[i].Most = min(fs.All[i].Most, rate)
			}
		}
	}
	for range 3 {
		for _, lower := range []bool{false, true} {
			sum := make([]float64, len(sent)) // by port: the other bounds of its flows
			for i := range fs.All {
				for _, p := range fs.Path(i) {
					if lower {
						sum[p] += fs.All[i].Most
					} else {
						sum[p] += fs.All[i].Least
					}
				}
			}
			for i := range fs.All {
				x := &fs.All[i]
				for _, p := range fs.Path(i) {
					switch {
					case sent[p] < 0, lower && fs.partial[p]:
					case lower:
						x.Least = max(x.Least, sent[p]*(1-uncertain)-(sum[p]-x.Most))
					default:
						x.Most = min(x.Most, max(0, sent[p]*(1+uncertain)-(sum[p]-x.Least)))
					}
				}
			}
		}
	}
}

// carries reports whether a port sent data or may have sent data.
func (fs *Flows) carries(sent []float64, port fabric.PortIndex) bool {
	return sent[port] < 0 || sent[port] > silent*fs.Tables.Fabric.Ports[port].DataRate()
}

// follow collects the pairs that may have traffic.
func (fs *Flows) follow(ctx context.Context, sent []float64, from, to []fabric.PortIndex, opt *Options) error {
	f, follower := fs.Tables.Fabric, linkload.NewFollower(fs.Tables)
	for _, src := range from {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for _, dst := range to {
			for k := range uint16(1) << f.Ports[dst].LMC {
				pair := linkload.Pair{Src: src, Dst: dst, LID: f.Ports[dst].LID + k}
				path, fate := follower.Path(pair)
				if fate == walk.UnreadTable {
					fs.Unknown++
				}
				if fate != walk.Reaches || !fs.allCarry(sent, path) {
					continue
				}
				if opt.Keep != nil && !opt.Keep(pair, path) {
					fs.Partial = true
					for _, p := range path {
						fs.partial[p] = true
					}
					continue
				}
				if len(fs.All) == opt.MaxPairs {
					return fmt.Errorf("estimate the traffic of %d senders and %d receivers: %w than %d", len(from),
						len(to), ErrTooMany, opt.MaxPairs)
				}
				x := Flow{Pair: pair, Bytes: 1, from: len(fs.ports)}
				if opt.Prefer != nil {
					x.Bytes = opt.Prefer(pair, path)
				}
				fs.ports = append(fs.ports, path...)
				x.to = len(fs.ports)
				fs.All = append(fs.All, x)
			}
		}
	}
	return nil
}

func (fs *Flows) allCarry(sent []float64, path []fabric.PortIndex) bool {
	for _, p := range path {
		if !fs.carries(sent, p) {
			return false
		}
	}
	return true
}

// fit scales the flows of each port to what the port sent, again and again (iterative proportional fitting).
func (fs *Flows) fit(ctx context.Context, sent []float64) error {
	at := make([]int, len(sent)+1) // by port: its flows in on
	for _, p := range fs.ports {
		at[p+1]++
	}
	for i := range sent {
		at[i+1] += at[i]
	}
	on, next := make([]int32, len(fs.ports)), append([]int(nil), at...)
	for i := range fs.All {
		for _, p := range fs.Path(i) {
			on[next[p]] = int32(i)
			next[p]++
		}
	}
	for range rounds {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		fs.Error = 0
		for p, bytes := range sent {
			flows := on[at[p]:at[p+1]]
			if len(flows) == 0 || bytes < 0 {
				continue
			}
			sum := 0.0
			for _, i := range flows {
				sum += fs.All[i].Bytes
			}
			if sum <= 0 || fs.partial[p] && sum <= bytes {
				continue
			}
			fs.Error = max(fs.Error, math.Abs(sum/bytes-1))
			for _, i := range flows {
				fs.All[i].Bytes *= bytes / sum
			}
		}
		if fs.Error <= precise {
			break
		}
	}
	return nil
}

// Over returns the bytes per second that each port sends if the flows take the paths of tables, by port of their
// fabric. The weight of each flow multiplies it. Lost is the traffic without a path.
func (fs *Flows) Over(t *fabric.Tables, weight func(i int) float64) (load []float64, lost float64) {
	load = make([]float64, len(t.Fabric.Ports))
	follower := linkload.NewFollower(t)
	was := fs.Tables.Fabric
	for i := range fs.All {
		x := &fs.All[i]
		bytes := x.Bytes * weight(i)
		if bytes <= 0 {
			continue
		}
		src, dst := t.Fabric.PortByGUID(was.Ports[x.Src].GUID), t.Fabric.PortByGUID(was.Ports[x.Dst].GUID)
		if src == fabric.None || dst == fabric.None {
			lost += bytes
			continue
		}
		lid := t.Fabric.Ports[dst].LID + (x.LID - was.Ports[x.Dst].LID)
		path, fate := follower.Path(linkload.Pair{Src: src, Dst: dst, LID: lid})
		if fate != walk.Reaches {
			lost += bytes
			continue
		}
		for _, p := range path {
			load[p] += bytes
		}
	}
	return load, lost
}
