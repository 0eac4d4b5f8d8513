// SPDX-License-Identifier: Apache-2.0

package slowdown

import (
	"context"
	"errors"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/routing/checks/congestion"
	"example.org/ibconsole/routing/checks/flows"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/shell/session/joblinks"
)

// replay places the traffic of the job in one window and that of other hosts in another on tables.
type replay struct {
	ctx         context.Context
	own, others *Window // others is nil without the traffic of other hosts
}

// load returns the data that each port would send, in bytes per second.
func (d *replay) load(t *fabric.Tables) []float64 {
	sum, _ := d.own.Tree.Flows.Over(t, d.own.ownOnly)
	if d.others != nil {
		more, _ := d.others.Tree.Flows.Over(t, d.others.othersOnly)
		for p := range sum {
			sum[p] += more[p]
		}
	}
	return sum
}

const (
	// extreme is the weight of pairs of an estimate with as much or as little traffic over a port as the counters
	// permit.
	extreme = 1e6
	// inexact is the largest error of an estimate that proves something.
	inexact = 0.05
	// over and under are the loads above which a link is overloaded, and below which it is not, with certainty.
	over, under = 1.02, 0.97
)

// bound returns the largest load of a port, or the smallest one, for all traffic that agrees with the counters. It
// returns false if that is not known.
func (d *replay) bound(t *fabric.Tables, port fabric.PortIndex, largest bool) (float64, bool, error) {
	sum := 0.0
	for _, part := range []struct {
		w      *Window
		weight func(*Window) func(int) float64
		isOwn  bool
	}{{d.own, func(w *Window) func(int) float64 { return w.ownOnly }, true},
		{d.others, func(w *Window) func(int) float64 { return w.othersOnly }, false}} {
		if part.w == nil {
			continue
		}
		follower, was := linkload.NewFollower(t), part.w.Picture.Fabric
		crosses := func(p linkload.Pair) bool {
			src, dst := t.Fabric.PortByGUID(was.Ports[p.Src].GUID), t.Fabric.PortByGUID(was.Ports[p.Dst].GUID)
			if src == fabric.None || dst == fabric.None {
				return false
			}
			path, fate := follower.Path(linkload.Pair{Src: src, Dst: dst,
				LID: t.Fabric.Ports[dst].LID + (p.LID - was.Ports[p.Dst].LID)})
			return fate == walk.Reaches && slices.Contains(path, port)
		}
		base := joblinks.Prefer(part.w.jobs())
		prefer := func(p linkload.Pair, path []fabric.PortIndex) float64 {
			counts := part.isOwn == part.w.isOwn(&flows.Flow{Pair: p}) && crosses(p)
			switch {
			case !counts:
				return base(p, path)
			case largest:
				return extreme * base(p, path)
			}
			return base(p, path) / extreme
		}
		all, err := flows.Estimate(d.ctx, part.w.Picture.Tables, part.w.Sent(), flows.Options{Prefer: prefer})
		if errors.Is(err, flows.ErrTooMany) {
			return 0, false, nil
		}
		if err != nil {
			return 0, false, err
		}
		if all.Error > inexact || all.Unknown > 0 {
			return 0, false, nil
		}
		load, _ := all.Over(t, part.weight(part.w))
		sum += load[port]
	}
	return sum, true, nil
}

// shares returns the load of each port on the paths of the job as a share of its data rate, 0 for other ports. The
// argument full has ports whose rate is taken as that which both ends allow.
func (d *replay) shares(t *fabric.Tables, full map[fabric.PortIndex]float64) []float64 {
	own, _ := d.own.Tree.Flows.Over(t, d.own.ownOnly)
	load := d.load(t)
	for p := range load {
		rate := rateOf(t.Fabric, fabric.PortIndex(p), full)
		if own[p] <= 0 || rate <= 0 {
			load[p] = 0
			continue
		}
		load[p] /= rate
	}
	return load
}

func rateOf(f *fabric.Fabric, p fabric.PortIndex, full map[fabric.PortIndex]float64) float64 {
	if rate, given := full[p]; given {
		return rate
	}
	return f.Ports[p].DataRate()
}

// busiest returns the busiest link of the job's paths and its load as a share of the rate.
func (d *replay) busiest(t *fabric.Tables, full map[fabric.PortIndex]float64) (fabric.PortIndex, float64) {
	port, most := fabric.PortIndex(fabric.None), 0.0
	for p, share := range d.shares(t, full) {
		if share > most {
			port, most = fabric.PortIndex(p), share
		}
	}
	return port, most
}

// isFree reports whether no link of the job's paths is overloaded, for all traffic that agrees with the counters.
func (d *replay) isFree(t *fabric.Tables, full map[fabric.PortIndex]float64) (bool, error) {
	most := make([]float64, len(t.Fabric.Ports)) // upper bounds
	for _, w := range []*Window{d.own, d.others} {
		if w == nil {
			continue
		}
		if w.Tree.Flows.Partial {
			return false, nil
		}
		weight := w.ownOnly
		if w == d.others {
			weight = w.othersOnly
		}
		upper := *w.Tree.Flows
		upper.All = slices.Clone(upper.All)
		for i := range upper.All {
			upper.All[i].Bytes = upper.All[i].Most
		}
		load, _ := upper.Over(t, weight)
		for p := range load {
			most[p] += load[p]
		}
	}
	for p, share := range d.shares(t, full) {
		rate := rateOf(t.Fabric, fabric.PortIndex(p), full)
		if share <= 0 || most[p] <= under*rate {
			continue
		}
		largest, known, err := d.bound(t, fabric.PortIndex(p), true)
		if err != nil || !known || largest > under*rate {
			return false, err
		}
	}
	return true, nil
}

// clue searches the reason of a root.
type clue struct {
	ctx  context.Context
	r    *Report
	w    *Window
	free *Window // nil if the demand of the job is not known
	root *congestion.Root
	d    *replay // the demand with the traffic of other hosts, nil without free
}

func (c *clue) port() fabric.PortIndex { return c.root.Ports[0] }

// find sets the reason of the finding.
func (c *clue) find(x *Finding) error {
	f := c.w.Picture.Fabric
	switch c.root.Cause {
	case congestion.Ring:
		x.Reason, x.Certainty = Ring, Likely
		return nil
	case congestion.SlowReceiver:
		x.Reason, x.Certainty = Receiver, Likely
		return c.proveTaken(x, nil)
	case congestion.BadCable:
		x.Reason, x.Certainty = Cable, Likely
		return c.proveTaken(x, c.fullRate())
	case congestion.Oversubscribed:
	default:
		return nil
	}
	x.Jobs = c.otherJobs()
	if c.free != nil {
		x.With = c.d.load(c.w.Picture.Tables)[c.port()] / f.Ports[c.port()].DataRate()
		if done, err := c.otherTables(x); done || err != nil {
			return err
		}
		if done, err := c.withoutOthers(x); done || err != nil {
			return err
		}
	}
	return c.guess(x)
}

// fullRate returns the rate of the root's link if it had the width and speed that both ends allow.
func (c *clue) fullRate() map[fabric.PortIndex]float64 {
	f, p := c.w.Picture.Fabric, c.port()
	limits := c.w.Limits
	if limits == nil || !c.w.Ports[p].Reduced {
		return nil
	}
	most := limits(p).Common(limits(f.Ports[p].Peer))
	link := fabric.Port{Width: most.WidthEnabled, Speed: most.SpeedEnabled}
	return map[fabric.PortIndex]float64{p: link.DataRate()}
}

// held is the factor by which the demand exceeds the traffic over a link that holds it back, with certainty.
const held = 1.05

// proveTaken proves a slow receiver or a bad cable: the demand exceeds what the link took, and fits the link.
func (c *clue) proveTaken(x *Finding, full map[fabric.PortIndex]float64) error {
	if c.free == nil {
		return nil
	}
	t := c.w.Picture.Tables
	rate := rateOf(t.Fabric, c.port(), full)
	least, known, err := c.d.bound(t, c.port(), false)
	if err != nil || !known {
		return err
	}
	x.Busiest, x.Without = c.d.busiest(t, full)
	x.With = c.d.load(t)[c.port()] / t.Fabric.Ports[c.port()].DataRate()
	if full == nil { // what the link took is what there was to take
		x.With = c.w.Ports[c.port()].Load
	}
	if least < held*c.w.Ports[c.port()].Sent || least > under*rate || !c.isAlone() {
		return nil
	}
	isFree, err := c.d.isFree(t, full)
	if isFree {
		x.Certainty = Proved
	}
	return err
}

// isAlone reports whether no other root holds back a flow over this root.
func (c *clue) isAlone() bool {
	for i := range c.w.Tree.Roots {
		other := &c.w.Tree.Roots[i]
		if other == c.root {
			continue
		}
		for _, k := range c.root.Through {
			if slices.Contains(other.Through, k) || slices.Contains(other.Victims, k) {
				return false
			}
		}
	}
	return true
}

// otherTables finds a flap or a change of tables: with the tables of the free window, the same traffic fits.
func (c *clue) otherTables(x *Finding) (bool, error) {
	now, was := c.w.Picture.Tables, c.free.Picture.Tables
	if now == was || !c.changed(now, was) {
		return false, nil
	}
	port, without := c.d.busiest(was, nil)
	if without > under || x.With < over {
		return false, nil
	}
	x.Reason, x.Certainty, x.Busiest, x.Without = Route, Likely, port, without
	if o := c.missing(was.Fabric); o >= 0 {
		x.Reason, x.Outage = Flap, &c.w.Outages[o]
	}
	return true, c.prove(x, c.d, was)
}

// changed reports whether the entries of switches in two tables differ.
func (c *clue) changed(now, was *fabric.Tables) bool {
	if len(now.Fabric.Switches) != len(was.Fabric.Switches) || len(now.Fabric.Links()) != len(was.Fabric.Links()) {
		return true
	}
	for sw := range now.Fabric.NumSwitches() {
		if !slices.Equal(now.LFT.Row(sw), was.LFT.Row(sw)) {
			return true
		}
	}
	return false
}

// missing returns the index of an outage whose link the window does not have and the fabric was has, -1 if none.
func (c *clue) missing(was *fabric.Fabric) int {
	f := c.w.Picture.Fabric
	for i := range c.w.Outages {
		key := counters.KeyOfEnd(c.w.Outages[i].A)
		then, now := key.In(was), key.In(f)
		if then != fabric.None && was.Ports[then].Linked() && (now == fabric.None || !f.Ports[now].Linked()) {
			return i
		}
	}
	return -1
}

// prove marks a finding as proved if the link is overloaded and no link is overloaded in the replay without the reason.
func (c *clue) prove(x *Finding, without *replay, t *fabric.Tables) error {
	now := c.w.Picture.Tables
	least, known, err := c.d.bound(now, c.port(), false)
	if err != nil || !known || least < over*now.Fabric.Ports[c.port()].DataRate() {
		return err
	}
	isFree, err := without.isFree(t, nil)
	if isFree {
		x.Certainty = Proved
	}
	return err
}

// withoutOthers finds traffic of other hosts: the demand of the job alone fits.
func (c *clue) withoutOthers(x *Finding) (bool, error) {
	alone := &replay{ctx: c.ctx, own: c.free}
	t := c.w.Picture.Tables
	port, without := alone.busiest(t, nil)
	if without > under || x.With < over {
		return false, nil
	}
	x.Reason, x.Certainty, x.Busiest, x.Without = OtherJob, Likely, port, without
	return true, c.prove(x, alone, t)
}

// otherJobs returns the other jobs with a host that sends or receives over the root.
func (c *clue) otherJobs() []string {
	var ids []string
	for _, i := range c.root.Through {
		x := &c.w.Tree.Flows.All[i]
		if c.w.isOwn(x) || x.Least <= 0 {
			continue
		}
		for _, id := range slices.Concat(c.w.others[x.Src], c.w.others[x.Dst]) {
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

const (
	// foreign is the share of the traffic over a root from which on other hosts may be the reason.
	foreign = 0.1
	// spare is the load up to which tables would have spread the measured traffic better, and enough is that for the
	// tables before an outage.
	spare, enough = 0.8, 0.95
)

// guess sets a likely reason from the measured traffic, which the congestion held back.
func (c *clue) guess(x *Finding) error {
	f, p := c.w.Picture.Fabric, c.port()
	own, _ := c.w.Tree.Flows.Over(c.w.Picture.Tables, c.w.ownOnly)
	others, _ := c.w.Tree.Flows.Over(c.w.Picture.Tables, c.w.othersOnly)
	now := &replay{ctx: c.ctx, own: c.w, others: c.w}
	toHost := f.PeerNode(p) != fabric.None && !f.Nodes[f.PeerNode(p)].IsSwitch()
	if x.With >= 0 && x.With < over {
		x.With = None
	}
	if !toHost {
		if done, err := c.guessTables(x, now); done || err != nil {
			return err
		}
	}
	switch {
	case own[p]+others[p] <= 0:
	case others[p] > foreign*(own[p]+others[p]):
		x.Reason, x.Certainty = OtherJob, Likely
		x.Busiest, x.Without = (&replay{ctx: c.ctx, own: c.w}).busiest(c.w.Picture.Tables, nil)
	default:
		x.Reason, x.Certainty = Oversubscription, Likely
		x.Busiest, x.Without = fabric.None, None
		if toHost && others[p] < 0.01*own[p] && c.w.Ports[p].IsFull() {
			return c.proveSum(x)
		}
	}
	return nil
}

// proveSum proves that only the job fills the link to a host, which no tables can change.
func (c *clue) proveSum(x *Finding) error {
	t := c.w.Picture.Tables
	most, known, err := (&replay{ctx: c.ctx, own: c.w, others: nil}).bound(t, c.port(), false)
	if err == nil && known && most >= under*c.w.Ports[c.port()].Sent {
		x.Certainty = Proved
	}
	return err
}

// guessTables sets a likely flap or route: with the tables of another window, or of the default engine, the measured
// traffic leaves all links with room.
func (c *clue) guessTables(x *Finding, now *replay) (bool, error) {
	for _, w := range c.r.Windows {
		if w == c.w || !c.changed(c.w.Picture.Tables, w.Picture.Tables) {
			continue
		}
		o := c.missing(w.Picture.Fabric)
		if port, without := now.busiest(w.Picture.Tables, nil); o >= 0 && without <= enough {
			x.Reason, x.Certainty, x.Outage, x.Busiest, x.Without = Flap, Likely, &c.w.Outages[o], port, without
			return true, nil
		}
	}
	tables, err := defaultTables(c.ctx, c.w)
	if err != nil || tables == nil {
		return false, err
	}
	own := &replay{ctx: c.ctx, own: c.w}
	if _, alone := own.busiest(c.w.Picture.Tables, nil); alone < congestion.Full {
		return false, nil // the job alone does not fill the link
	}
	if port, without := now.busiest(tables, nil); without <= spare {
		x.Reason, x.Certainty, x.Busiest, x.Without = Route, Likely, port, without
		return true, nil
	}
	return false, nil
}
