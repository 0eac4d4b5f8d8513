// SPDX-License-Identifier: Apache-2.0

package commit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/fabric/sweep"
	fabricwrite "example.org/ibconsole/fabric/write"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session/commits"
	"example.org/ibconsole/shell/session/joblinks"
)

const (
	portHelp = "Without yes, the command only shows the plan: the pairs, hosts and jobs that lose their path. " +
		"Writing also requires\nwrite on. The old PortInfo is journaled, and rollback restores it. Port 0 of a " +
		"switch and the links of aggregation\nnodes are refused."
	speedHelp = "VALUE is all, names of speeds such as HDR or EDR,HDR, or the number to write as LinkSpeedEnabled " +
		"(1 SDR, 2 DDR, 4 QDR).\nA number leaves the speeds from FDR on as they are, as in ibportstate; names of " +
		"slower speeds disable FDR to NDR. The\nplan shows which speeds stay, and what the link trains to. A value " +
		"that the peer does not enable is refused."
	widthHelp = "VALUE is all, names of widths such as 4x or 1x,4x, or the number to write as LinkWidthEnabled " +
		"(1 1x, 2 4x, 4 8x, 8 12x,\n16 2x)."
	resetWord = "reset"
)

// portCommands returns the commands that control a port.
func portCommands() []feature.Command {
	all := []feature.Command{{Path: "port", Group: feature.GroupWrite, Summary: "Disable, enable, reset or set a port"}}
	add := func(name, summary, help string, words []string, change func(c *fabricwrite.Control, value string) error) {
		path := "port " + name
		planned, written := declare(path)
		command := feature.Command{
			Path: path, Summary: summary, Help: help + portHelp, Options: options(),
			Args:    []lang.Arg{{Name: "NODE/PORT", Kind: lang.KindPlace}},
			Answers: []answer.Declared{planned, written},
		}
		var own []lang.Option
		if words != nil {
			command.Args = append(command.Args, lang.Arg{Name: "VALUE"})
			own = []lang.Option{{Name: resetWord, Kind: lang.KindFlag,
				Summary: "reset the link after it, so that the new value takes effect"}}
			command.Options = append(command.Options, own...)
		}
		command.Args = append(command.Args, lang.Arg{Kind: lang.KindWord, Words: []string{yesWord}, Optional: true})
		for _, value := range append(words, "")[:max(len(words), 1)] {
			line := strings.TrimSpace(path + " leaf-01/36 " + value)
			command.Examples = append(command.Examples, line)
		}
		command.Examples = append(command.Examples, "write on; "+command.Examples[0]+" yes force-unreachable "+
			"force-interrupt")
		command.Run = func(c *feature.Call) error {
			r := &run{Call: c, plan: planned, done: written, own: own}
			return r.controlPort(change)
		}
		all = append(all, command)
	}
	add("disable", "Disable a port and take its link down", "The peer cannot enable the link again: enable the same "+
		"port.\n", nil, func(c *fabricwrite.Control, _ string) error { c.Phys = mad.PhysDisabled; return nil })
	add("enable", "Enable a disabled port", "A port that is not disabled is left alone.\n", nil,
		func(c *fabricwrite.Control, _ string) error { c.Phys = mad.PhysPolling; return nil })
	add(resetWord, "Train the link of a port again", "A disabled port is enabled by it.\n", nil,
		func(c *fabricwrite.Control, _ string) error {
			c.Phys, c.Reset = mad.PhysPolling, true
			return nil
		})
	add("speed", "Set the enabled speeds of a port", speedHelp+"\n", []string{"all", "EDR,HDR"}, setSpeed)
	add("width", "Set the enabled widths of a port", widthHelp+"\n", []string{"all", "4x"}, setWidth)
	return all
}

// controlPort runs a port command.
func (r *run) controlPort(change func(c *fabricwrite.Control, value string) error) error {
	f := r.Session.State().Live.Fabric
	ports, err := r.PortArg(f)
	if err != nil {
		return err
	}
	if len(ports) != 1 {
		return r.Misused("%q is not one port, expected NODE/PORT", r.Arg(0))
	}
	port := &f.Ports[ports[0]]
	control := fabricwrite.Control{Port: ports[0], GUID: f.Nodes[port.Node].GUID, Num: port.Num}
	if err := control.Check(f); err != nil {
		return err
	}
	value := ""
	if len(r.Args) > 1 && r.Arg(1) != yesWord {
		value = r.Arg(1)
	}
	if err := change(&control, value); err != nil {
		return r.Misused("%v", err)
	}
	controls := []fabricwrite.Control{control}
	if r.Flag(resetWord) {
		controls = append(controls, fabricwrite.Control{GUID: control.GUID, Num: control.Num, Phys: mad.PhysPolling,
			Reset: true})
	}
	note := strings.TrimSpace(fmt.Sprintf("%s %s %s", r.Command, f.PortName(ports[0]), value))
	return r.planAndWrite(func(opt commits.Options) (commits.Report, string, error) {
		rep, err := commits.Control(r.Ctx, r.Session, controls, note, opt)
		return rep, "", err
	})
}

// values returns the bits of a list of names, or false if a name is unknown.
func values(text string, names map[string]uint16) (bits uint16, ok bool) {
	for name := range strings.SplitSeq(strings.ToUpper(text), ",") {
		bit, known := names[name]
		if !known {
			return 0, false
		}
		bits |= bit
	}
	return bits, true
}

func setSpeed(c *fabricwrite.Control, value string) error {
	names := map[string]uint16{"ALL": 1<<15 - 1}
	for s := mad.SpeedSDR; s <= mad.SpeedXDR; s <<= 1 {
		if s != mad.SpeedFDR10 { // a vendor's attribute enables it
			names[s.String()] = uint16(s)
		}
	}
	bits, ok := values(value, names)
	if n, err := strconv.ParseUint(value, 0, 4); err == nil && n > 0 {
		bits, ok = uint16(n)&7, true
		if n == fabricwrite.AllSpeeds {
			c.Speed = fabricwrite.AllSpeeds
			return nil
		}
		if n > 7 {
			return fmt.Errorf("%q is not a set of speeds, expected 1 to 7 or 15", value)
		}
	}
	if !ok {
		return fmt.Errorf("%q is not a speed, expected all, 1 to 7, 15, or names such as EDR,HDR", value)
	}
	if strings.EqualFold(value, "all") {
		c.Speed, c.Ext, c.Ext2 = fabricwrite.AllSpeeds, fabricwrite.AllExt, fabricwrite.AllExt2
		return nil
	}
	c.Speed, c.Ext = uint8(bits&7), uint8(bits>>4&15)
	if c.Speed != 0 && c.Ext == 0 && len(value) > 1 { // names, not a number
		c.Ext = mad.ExtSpeedsNone // otherwise the faster speeds stay, and the link trains at one of them
	}
	if mad.LinkSpeed(bits)&mad.SpeedXDR != 0 {
		c.Ext2 = 1
	}
	return nil
}

func setWidth(c *fabricwrite.Control, value string) error {
	names := map[string]uint16{"ALL": uint16(fabricwrite.AllWidths), "1X": uint16(mad.Width1x),
		"2X": uint16(mad.Width2x),
		"4X": uint16(mad.Width4x), "8X": uint16(mad.Width8x), "12X": uint16(mad.Width12x)}
	bits, ok := values(value, names)
	if n, err := strconv.ParseUint(value, 0, 8); err == nil && (n > 0 && n < 32 || n == uint64(fabricwrite.AllWidths)) {
		bits, ok = uint16(n), true
	}
	if !ok {
		return fmt.Errorf("%q is not a width, expected all, 1 to 31, 255, or names such as 1x,4x", value)
	}
	c.Width = mad.LinkWidth(bits)
	return nil
}

// addPortTexts adds the texts about the controlled ports.
func (x *Change) addPortTexts(jobs string) {
	controls := x.Plan.Controls
	add := func(id, text string) {
		if text != "" {
			x.texts[id] = text
		}
	}
	add("hosts lost", prose.List(x.Hosts, mostNodes))
	add("jobs", jobs)
	if len(controls) == 0 {
		if x.Master != nil && !x.Empty() {
			add("SM acts", "the SM keeps these tables until it routes again, after a link changed or at a heavy "+
				"sweep; then it uses all links that are up, and sends only blocks that differ from its own copy: the "+
				"mixture may have loops and lose pairs (check reach of=live)")
		}
		return
	}
	add("port control", prose.List(x.controlTexts(), mostNodes))
	add("link trains", prose.List(x.trainTexts(), mostNodes))
	add("own path", prose.List(x.OwnPath, mostNodes))
	add("links down", prose.List(x.LinksDown, mostNodes))
	without := x.live.Without(x.Plan.Down(x.live))
	routes := sweep.NewRoutes(without)
	for i := range controls {
		if controls[i].Phys != mad.PhysDisabled {
			continue
		}
		name := x.live.PortName(controls[i].Port)
		if path, err := routes.ToPort(controls[i].Port); err != nil || without.SMPort != x.live.SMPort {
			add("enable again", "only at "+name+", which is not reachable from here then")
			break
		} else if x.texts["enable again"] == "" {
			add("enable again", fmt.Sprintf("only at %s, which stays reachable from here over %s", name,
				prose.Count(path.Len(), "hop")))
		}
	}
	if x.Master != nil {
		add("SM acts", "on the trap of a link that changes, or at its next light sweep, the SM sweeps, drops or adds "+
			"the link, and routes again; its routes may differ")
	}
}

// controlTexts returns a text for each controlled port.
func (x *Change) controlTexts() (all []string) {
	for i := range x.Plan.Controls {
		c := &x.Plan.Controls[i]
		text := x.live.PortName(c.Port)
		if peer := x.live.Ports[c.Port].Peer; peer != fabric.None {
			text += " -- " + x.live.PortName(peer)
		}
		var old mad.PortInfo
		if old.UnmarshalBinary(c.Old) == nil {
			text += fmt.Sprintf(" (%v, %v)", old.PortState, old.PhysState)
		}
		text += " to " + c.String()
		if c.Phys == mad.PhysPolling && c.Reset && old.PhysState == mad.PhysDisabled {
			text += ", which enables the disabled port"
		}
		all = append(all, text)
	}
	return all
}

// trainTexts returns a text for each controlled port whose enabled widths or speeds change.
func (x *Change) trainTexts() (all []string) {
	for i := range x.Trainings {
		if text := x.Trainings[i].Text(x.live); text != "" {
			all = append(all, text)
		}
	}
	return all
}

// jobsText returns a text with the jobs that use the links which a plan takes down, "" if it takes none down.
func (r *run) jobsText(rep *commits.Report) string {
	places := r.places
	for i := range rep.Plan.Controls {
		if c := &rep.Plan.Controls[i]; c.TakesDown() {
			places = append(places, problems.Place{GUID: c.GUID, Port: int(c.Num)})
		}
	}
	if len(places) == 0 || r.jobs != "" {
		return r.jobs
	}
	now := time.Now()
	all, err := joblinks.List(r.Ctx, r.Session, now.Add(-time.Second), now)
	var names []string
	for _, place := range places {
		if err != nil {
			break
		}
		var found *joblinks.Found
		found, err = all.On(r.Ctx, place, now.Add(-time.Second), now)
		if err == nil {
			for k := range found.Uses {
				names = append(names, found.Uses[k].ID)
			}
		}
	}
	switch {
	case err != nil:
		why, _, _ := strings.Cut(err.Error(), "; hint")
		r.jobs = "unknown: " + fabric.Escape(why)
	case len(names) == 0:
		r.jobs = "none uses these links"
	default:
		slices.Sort(names)
		r.jobs = "use these links: " + fabric.Escape(prose.List(slices.Compact(names), mostNodes))
	}
	return r.jobs
}
