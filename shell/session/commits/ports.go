// SPDX-License-Identifier: Apache-2.0

package commits

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/apply"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing/changes/plan"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/connection"
)

// Control changes physical states, widths or speeds of ports. The controls need GUID, Num and the values to write. The
// argument note is journaled. Control plans, journals and reads back as [Commit] does.
func Control(ctx context.Context, s *session.Session, controls []write.Control, note string,
	opt Options) (Report, error) {
	return (&commit{Session: s, opt: opt, controls: controls, of: subject{note: note}}).do(ctx)
}

// isPorts reports whether the commit controls ports. Otherwise it writes tables.
func (c *commit) isPorts() bool { return c.controls != nil }

// preflightPorts reads the live subnet and the PortInfo of the ports. The target is the subnet without the links that
// the commit takes down.
func (c *commit) preflightPorts(ctx context.Context) error {
	if !c.Connection().Online() {
		return connection.ErrOffline
	}
	tables := c.State().Live.Tables
	if tables == nil {
		tables = new(fabric.Tables)
	}
	if err := c.op.SweepFor(ctx, tables); err != nil {
		return err
	}
	c.st = c.State()
	if c.opt.writes() {
		if err := c.incomplete(); err != nil {
			return err
		}
	}
	f, kept := c.st.Live.Fabric, []write.Control{}
	for _, control := range c.controls {
		info, isNeeded, err := c.readPort(ctx, f, &control)
		if err == nil {
			err = c.findTraining(ctx, f, &control, info)
		}
		if err != nil {
			return err
		}
		if isNeeded || c.of.id != 0 { // a rollback of a resumed commit restores all ports
			kept = append(kept, control)
		}
	}
	c.controls = kept
	list := write.List{Controls: kept}
	c.target = c.st.Live.On(f.Without(list.Down(f)))
	return nil
}

// readPort finds the port of a control in the fabric and reads its PortInfo. It keeps the PortInfo that the journal
// has. It returns the present PortInfo, and reports whether the port is to be written.
func (c *commit) readPort(ctx context.Context, f *fabric.Fabric, control *write.Control) (*portInfo, bool, error) {
	node := f.NodeByGUID(control.GUID)
	if node != fabric.None {
		control.Port = f.PortAt(node, int(control.Num))
	}
	if node == fabric.None || control.Port == fabric.None {
		return nil, false, fmt.Errorf("port %d of 0x%016x is not in the live subnet", control.Num, control.GUID)
	}
	if err := control.Check(f); err != nil {
		return nil, false, err
	}
	read, err := c.readInfo(ctx, f, control.Port)
	if err != nil {
		return nil, false, err
	}
	info := read.PortInfo
	if control.Ext == mad.ExtSpeedsNone && info.SpeedSupported(read.caps) < mad.SpeedFDR {
		control.Ext = 0 // the port has none that could be disabled
	}
	if err := control.Unsupported(&info); err != nil {
		return nil, false, fmt.Errorf("%s: %w", f.PortName(control.Port), err)
	}
	if len(control.Old) == 0 {
		info.MKey = 0 // the journal must not hold it
		control.Old, _ = info.AppendBinary(nil)
	}
	control.Caps = mad.CapabilityMask(f.Ports[f.EndPortOf(control.Port)].CapMask)
	return read, control.Needed(&info), nil
}

// makePlan plans the writes.
func (c *commit) makePlan(ctx context.Context) (*plan.Plan, error) {
	if c.isPorts() {
		return &plan.Plan{List: write.List{Controls: c.controls}}, nil
	}
	return plan.Make(ctx, c.st.Live.Tables, c.target.Tables)
}

// assessPorts finds the hosts that lose connectivity and the paths of this console that depend on the links.
func (c *commit) assessPorts(ctx context.Context, p *plan.Plan) error {
	live, target := c.st.Live, c.target
	if live.Tables != nil {
		if err := c.countLost(ctx, p); err != nil {
			return err
		}
	}
	c.rep.Hosts = LostHosts(live.Fabric, target.Fabric)
	c.rep.OwnPath = OwnPath(&c.st, target.Fabric, live.Tables, c.controls)
	return nil
}

// LostHosts returns the hosts that one fabric reaches and the other does not.
func LostHosts(f, after *fabric.Fabric) (names []string) {
	hosts := map[fabric.NodeIndex]bool{}
	for _, e := range f.EndPorts {
		node := f.Ports[e].Node
		same := after.PortByGUID(f.Ports[e].GUID)
		isLost := f.Reachable(e) && (same == fabric.None || !after.Reachable(same))
		if isLost && !f.Nodes[node].IsSwitch() && !hosts[node] {
			hosts[node] = true
			names = append(names, f.NodeName(node))
		}
	}
	return names
}

// OwnPath returns the reasons why the console needs the links that the controls take down: its own port, its way back
// to the ports, and the paths between it and the master SM by these tables. after is the live fabric without the links.
func OwnPath(st *session.State, after *fabric.Fabric, tables *fabric.Tables, controls []write.Control) (why []string) {
	f := st.Live.Fabric
	list := write.List{Controls: controls}
	down := list.Down(f)
	if len(down) == 0 {
		return nil
	}
	ends := map[fabric.PortIndex]string{f.SMPort: "the port of this console"}
	manager := fabric.PortIndex(fabric.None)
	if master, ok := st.Master(); ok {
		if manager = f.PortByGUID(master.GUID); manager != fabric.None && manager != f.SMPort {
			ends[manager] = "the port of the master SM"
		}
	}
	for _, l := range down {
		for _, p := range [2]fabric.PortIndex{l.A, l.B} {
			if text := ends[p]; text != "" && f.Ports[p].Num != 0 {
				why = append(why, fmt.Sprintf("%s is %s", f.PortName(p), text))
			}
		}
	}
	routes := sweep.NewRoutes(after)
	for i := range controls {
		if !controls[i].TakesDown() {
			continue
		}
		if _, err := routes.ToPort(controls[i].Port); err != nil || after.SMPort != f.SMPort {
			why = append(why, f.PortName(controls[i].Port)+" could not be reached from here to enable it again")
		}
	}
	own := f.EndPortOf(f.SMPort)
	if manager == fabric.None || manager == own || tables == nil {
		return why
	}
	for _, pair := range [][2]fabric.PortIndex{{own, manager}, {manager, own}} {
		path := walk.Between(tables, pair[0], pair[1], f.LIDOf(pair[1]))
		if slices.ContainsFunc(path.Hops, func(h walk.Hop) bool {
			if h.Out == fabric.None { // the last hop
				return false
			}
			l, ok := f.LinkOf(h.Out)
			return ok && slices.Contains(down, l)
		}) {
			why = append(why, fmt.Sprintf("the path from %s to %s uses it", f.PortName(pair[0]), f.PortName(pair[1])))
		}
	}
	return why
}

// losing returns an error if connected pairs lose their path for as long as links are down, unless the options allow it
// or nothing else connects the pairs.
func (c *commit) losing() error {
	r := &c.rep
	if err := c.conflict(); err != nil {
		return err
	}
	if r.Lost == 0 || r.Unconnected+r.Unproved == 0 {
		return nil
	}
	pairs := prose.Verb(r.Lost, "connected pair", "would lose its path", "would lose their paths")
	isDisabled := func(x write.Control) bool { return x.Phys == mad.PhysDisabled }
	switch {
	case slices.ContainsFunc(c.controls, isDisabled) && !c.opt.AllowUnreachable:
		return refused(Unreachable, "%s, although other links lead to the destination; 'drain' moves the paths first",
			pairs)
	case !slices.ContainsFunc(c.controls, isDisabled) && !c.opt.AllowInterrupt:
		return refused(Interrupt, "%s until the link is up again", pairs)
	}
	return nil
}

const (
	linkWait = 10 * time.Second // how long links may take to train, unless Options.LinkWait is set
	linkPoll = 100 * time.Millisecond
)

// hadLink reports whether a control is to end with a link: it resets a port that had a link, or a rollback enables a
// port.
func (c *commit) hadLink(control *write.Control) bool {
	var old mad.PortInfo
	return control.Phys == mad.PhysPolling && (c.of.restores() ||
		control.Reset && old.UnmarshalBinary(control.Old) == nil && old.PhysState == mad.PhysLinkUp)
}

// restoreLinks waits until the links of reset ports, and of the ports that a rollback enabled, have trained. It brings
// up their ports unless a master SM does. It sets Report.LinksDown.
func (c *commit) restoreLinks(ctx context.Context) error {
	if !slices.ContainsFunc(c.controls, func(x write.Control) bool { return c.hadLink(&x) }) {
		return nil
	}
	var down []string
	f, client := c.st.Live.Fabric, c.Connection().Client()
	routes := sweep.NewRoutes(f)
	until := time.Now().Add(cmp.Or(c.opt.LinkWait, linkWait))
	for i := range c.controls {
		control := &c.controls[i]
		if !c.hadLink(control) {
			continue
		}
		path, err := routes.ToPort(control.Port)
		for isUp := false; err == nil && !isUp; {
			var info mad.PortInfo
			info, err = mad.Get[mad.PortInfo](ctx, client, path, uint32(control.Num))
			if isUp = info.PhysState == mad.PhysLinkUp; !isUp && err == nil && time.Now().After(until) {
				down = append(down, f.PortName(control.Port))
				break
			}
			if !isUp && err == nil {
				err = sleep(ctx, linkPoll)
			}
		}
		if err != nil {
			return err
		}
	}
	c.rep.LinksDown = down
	if err := c.op.SweepFor(ctx, c.target.Tables); err != nil || c.rep.Master != nil {
		return err
	}
	live := c.State().Live
	up := write.List{}
	for i := range c.controls {
		node := live.Fabric.NodeByGUID(c.controls[i].GUID)
		if node == fabric.None || !c.hadLink(&c.controls[i]) {
			continue
		}
		f := live.Fabric
		port := f.PortAt(node, int(c.controls[i].Num))
		for _, p := range []fabric.PortIndex{port, f.Ports[port].Peer} {
			if p != fabric.None && f.Discovered(p) && f.Ports[p].State < mad.PortActive {
				up.States = append(up.States, write.State{Port: p, Old: f.Ports[p].State, New: mad.PortActive})
			}
		}
	}
	if up.Empty() {
		return nil
	}
	written, err := apply.Apply(ctx, client, live.Fabric, &up, apply.Options{})
	if written != nil {
		c.rep.Written.Written.States += written.Written.States
		c.rep.Written.ReadBack.States += written.ReadBack.States
	}
	return err
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
