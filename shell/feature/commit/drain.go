// SPDX-License-Identifier: Apache-2.0

package commit

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/failures"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/fabric/problems"
	fabricwrite "example.org/ibconsole/fabric/write"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/commits"
)

const (
	drainHelp = "The drain simulates the failure, computes routes that avoid it, and writes them as commit does. " +
		"Then it waits until\nthe data counters of its links stand still. With port=disable it disables the ports " +
		"then. Without yes, it only\nshows the plan, and the simulated failure and the staged routes remain. " +
		"undrain goes back.\nA host has no other path: its drain only waits, and with port=disable disables the port " +
		"of its switch."
	undrainHelp = "undrain enables the ports that the drain disabled, waits for their links, and writes the tables " +
		"from before\nthe drain. Without yes, it only shows the plan. The latest drain must be undone first."
	fullWord, portWord, disableWord = "full", "port", "disable"
	defaultWait                     = 60 // seconds
)

func drainOptions() []lang.Option {
	return []lang.Option{
		{Name: fullWord, Kind: lang.KindFlag,
			Summary: "compute all routes with the chosen engine, not only those that must change"},
		{Name: portWord, Kind: lang.KindWord, Words: []string{disableWord},
			Summary: "disable the ports when the data counters stand still"},
		{Name: "timeout", Kind: lang.KindInt, Value: "SECONDS",
			Summary: "how long to wait for the data counters (default 60)"},
	}
}

// quiet is the answer about the data counters of a drained link, switch or host.
type quiet struct {
	Quiet  answer.Value  `key:"quiet" kind:"bool" help:"the data counters stand still"`
	Waited time.Duration `key:"seconds"`
	Moving []string      `key:"moving" help:"ports whose data counters still change"`
	Unread []string      `key:"counters_not_read" help:"ports whose data counters could not be read"`
	Text   string        `name:"text"`
}

// drainCommands returns the commands that take a link, switch or host out of service and put it back.
func drainCommands() []feature.Command {
	all := []feature.Command{
		{Path: "drain", Group: feature.GroupWrite, Summary: "Take a link, switch or host out of service"},
		{Path: "undrain", Group: feature.GroupWrite, Summary: "Put a link, switch or host back into service"},
	}
	for _, what := range []struct {
		name, example string
		args          []lang.Arg
	}{
		{"link", "leaf-01 36", []lang.Arg{{Name: "NODE", Kind: lang.KindPlace},
			{Name: "PORT", Kind: lang.KindPort, Optional: true}}},
		{"switch", "spine-03", []lang.Arg{{Name: "SWITCH", Kind: lang.KindSwitch}}},
		{"host", "node-0002", []lang.Arg{{Name: "HOST", Kind: lang.KindNode}}},
	} {
		args := append(slices.Clone(what.args), lang.Arg{Kind: lang.KindWord, Words: []string{yesWord}, Optional: true})
		path, back := "drain "+what.name, "undrain "+what.name
		planned, written := declare(path)
		backPlanned, backWritten := declare(back)
		waited := feature.OneLine[quiet](path, "whether the data counters stand still", "{text}")
		all = append(all, feature.Command{
			Path: path, Summary: "Move all paths away from a " + what.name + ", and disable its ports", Help: drainHelp,
			Args: args, Options: append(options(), drainOptions()...),
			Examples: []string{
				path + " " + what.example,
				"write on; " + path + " " + what.example + " yes port=disable; un" + path + " " + what.example + " yes",
			},
			Answers: []answer.Declared{planned, written, waited},
			Run: func(c *feature.Call) error {
				r := &run{Call: c, plan: planned, done: written, ofStaged: true, own: drainOptions()}
				return r.drain(what.name, waited)
			},
		}, feature.Command{
			Path: back, Summary: "Enable its ports, and restore the tables of before", Help: undrainHelp,
			Args: args, Options: options(),
			Examples: []string{
				"write on; " + path + " " + what.example + " yes port=disable; " + back + " " + what.example,
				"write on; " + path + " " + what.example + " yes port=disable timeout=5; " + back + " " +
					what.example + " yes",
			},
			Answers: []answer.Declared{backPlanned, backWritten},
			Run: func(c *feature.Call) error {
				r := &run{Call: c, plan: backPlanned, done: backWritten}
				return r.undrain(what.name)
			},
		})
	}
	return all
}

// drained is what a drain takes out of service.
type drained struct {
	commits.Drain
	links []fabric.Link    // in the live fabric
	named fabric.PortIndex // the port that the command names, None if it names a node
}

// words returns the arguments without yes.
func (r *run) words() []string {
	return slices.DeleteFunc(slices.Clone(r.Args), func(word string) bool { return word == yesWord })
}

// subject finds what the command names in the live subnet.
func (r *run) subject(what string, f *fabric.Fabric) (d drained, place problems.Place, err error) {
	d = drained{Drain: commits.Drain{What: what}, named: fabric.None}
	if what == "link" {
		if d.named, err = places.Link(f, r.words()); err != nil {
			return d, place, r.LinkError(err)
		}
		d.Name = f.PortName(d.named)
		if l, ok := f.LinkOf(d.named); ok {
			d.links = []fabric.Link{l}
		}
		p := &f.Ports[d.named]
		return d, problems.Place{GUID: f.Nodes[p.Node].GUID, Port: int(p.Num)}, nil
	}
	node, err := places.NodeOrSwitch(f, what, r.Arg(0))
	if err != nil {
		return d, place, err
	}
	if what == "host" && (f.Nodes[node].IsSwitch() || f.IsAggregation(node)) {
		return d, place, fmt.Errorf("%s is not a host", f.NodeName(node))
	}
	d.Name = f.NodeName(node)
	d.links = failures.OfNodes(f, what, d.Name, node).Links
	return d, problems.Place{GUID: f.Nodes[node].GUID, Port: -1}, nil
}

// drain runs a drain command.
func (r *run) drain(what string, waited *answer.Decl[quiet]) error {
	seconds := r.Int("timeout", defaultWait)
	if seconds < 1 {
		return r.Misused("timeout=%d is not a time to wait, expected at least 1 second", seconds)
	}
	timeout := time.Duration(seconds) * time.Second
	if err := r.needJournal(); err != nil {
		return err
	}
	st := r.Session.State()
	d, place, err := r.subject(what, st.Live.Fabric)
	if err != nil {
		return err
	}
	if len(d.links) == 0 {
		return fmt.Errorf("%s has no link", d.Name)
	}
	hosts := commits.LostHosts(st.Live.Fabric, st.Live.Fabric.Without(d.links))
	if what == "switch" && len(hosts) > 0 && !r.Flag("force-unreachable") {
		return fmt.Errorf("%s would lose connectivity: %s; hint: to drain the switch anyway, run '%s'",
			prose.Count(len(hosts), "host"), prose.List(hosts, mostNodes), r.command("force-unreachable"))
	}
	r.places = []problems.Place{place}
	if err := r.reroute(&d); err != nil {
		return err
	}
	st = r.Session.State()
	live, after := st.Live.Fabric, st.Live.Fabric.Without(d.links)
	disables := r.Option(portWord, "") == disableWord
	controls := commits.PortsToDisable(live, after, r.toDisable(&d, live), d.named)
	why := commits.OwnPath(&st, after, st.Staged.Tables, controls)
	if disables && len(why) > 0 && !r.Flag("force-own-path") {
		return fmt.Errorf("this console depends on the link: %s; hint: to drain without disabling ports, omit "+
			"port=disable", prose.List(why, mostListed))
	}
	var opt commits.Options
	err = r.planAndWrite(func(o commits.Options) (commits.Report, string, error) {
		o.Note, o.Drains = d.Note(false), true
		opt = o
		rep, err := commits.Commit(r.Ctx, r.Session, o)
		note := ""
		if disables && !o.Confirmed {
			note = "then, when the data counters stand still, disable " + prose.List(names(live, controls), mostNodes)
		}
		return rep, note, err
	})
	if err != nil || !opt.Confirmed || opt.DryRun {
		return err
	}
	if err := r.awaitQuiet(&d, after, timeout, waited); err != nil || !disables {
		return err
	}
	return r.disable(&d, controls)
}

// needJournal returns an error if the drain could not be recorded, because undrain reads the journal.
func (r *run) needJournal() error {
	opt, err := r.options() // it opens the journal that the command names
	switch {
	case err != nil:
		return err
	case opt.NoJournal:
		return r.Misused("undrain takes the tables and ports of before from the journal, so that %s needs one; hint: "+
			"omit journal=no, or keep the journal in another file with journal=FILE", r.Command)
	case !opt.Confirmed || opt.DryRun:
		return nil
	}
	return r.hinted(commits.NeedJournal(r.Session))
}

func names(f *fabric.Fabric, controls []fabricwrite.Control) (all []string) {
	for i := range controls {
		all = append(all, f.PortName(controls[i].Port))
	}
	return all
}

// toDisable returns the links whose ports a drain disables. Of a switch these are only the links to other switches,
// because its hosts have no other link.
func (r *run) toDisable(d *drained, f *fabric.Fabric) []fabric.Link {
	if d.What != "switch" {
		return d.links
	}
	return slices.DeleteFunc(slices.Clone(d.links), func(l fabric.Link) bool {
		return !f.Nodes[f.Ports[l.A].Node].IsSwitch() || !f.Nodes[f.Ports[l.B].Node].IsSwitch()
	})
}

// reroute simulates the failure of what is drained now and of what earlier drains took out, and stages routes for it.
func (r *run) reroute(d *drained) error {
	st := r.Session.State()
	all, err := commits.Drains(r.Ctx, r.Session)
	if err != nil {
		return err
	}
	isDrained := func(f failures.Failure) bool {
		return slices.ContainsFunc(append(slices.Clone(all), d.Drain), func(x commits.Drain) bool {
			return f.Name == x.Name || strings.HasPrefix(f.Name, x.Name+" -- ") ||
				strings.HasSuffix(f.Name, " -- "+x.Name)
		})
	}
	if i := slices.IndexFunc(st.Failures, func(f failures.Failure) bool { return !isDrained(f) }); i >= 0 ||
		st.TopologyFile() != "" {
		return errors.New("the what-if has other simulated changes; hint: run 'restore all'")
	}
	if st.Base != nil {
		if _, err := r.Session.Restore(r.Ctx, nil, failures.Failure{}); err != nil {
			return err
		}
	}
	fail := func(x *commits.Drain) error {
		what := prose.When(x.What == "host", "node", x.What)
		_, err := r.Session.Fail(r.Ctx, failures.Named(what, []string{x.Name}, 0))
		return err
	}
	if err := fail(&d.Drain); err != nil {
		return err
	}
	for i := range all {
		_ = fail(&all[i]) // it fails for links that are down already, or that belong to d
	}
	if r.Flag(fullWord) {
		_, err := r.Session.Route(r.Ctx, compute.KeepNo)
		return err
	}
	_, err = r.Session.RouteIncremental(r.Ctx, false)
	return err
}

// awaitQuiet waits for the data counters, and fails if they do not stand still.
func (r *run) awaitQuiet(d *drained, after *fabric.Fabric, timeout time.Duration, decl *answer.Decl[quiet]) error {
	began := time.Now()
	moving, unread, err := commits.AwaitQuiet(r.Ctx, r.Session, after, d.links, timeout,
		func(moving, unread []string) {
			r.Output.Warn(fmt.Sprintf("waiting at most %v: %s", timeout, reasons(moving, unread)))
		})
	if err != nil {
		return err
	}
	q := quiet{Waited: time.Since(began), Moving: moving, Unread: unread}
	q.Quiet = answer.Bool(len(moving) == 0)
	if len(unread) > 0 {
		q.Quiet = answer.NotRead()
	}
	if len(moving)+len(unread) == 0 {
		q.Text = fmt.Sprintf("the data counters of %s stand still", d.Name)
		st := r.Session.State()
		return r.Answer(decl.Answer(st.SourceBasis(), q))
	}
	return fmt.Errorf("wait %v for %s: %s; the paths were moved away, and no port was disabled", timeout, d.Name,
		reasons(moving, unread))
}

// reasons describes the data counters for which a drain waits.
func reasons(moving, unread []string) string {
	var why []string
	if len(moving) > 0 {
		why = append(why, "the data counters still change: "+prose.List(moving, mostNodes))
	}
	if len(unread) > 0 {
		why = append(why, "the data counters could not be read: "+prose.List(unread, mostNodes))
	}
	return strings.Join(why, "; ")
}

// disable disables the ports of a drain, and ends the simulation: the live subnet lacks the links then.
func (r *run) disable(d *drained, controls []fabricwrite.Control) error {
	r.live, r.isPreviewed, r.ofStaged = nil, false, false
	err := r.planAndWrite(func(o commits.Options) (commits.Report, string, error) {
		rep, err := commits.Control(r.Ctx, r.Session, controls, d.Note(true), o)
		return rep, "", err
	})
	if err != nil {
		return err
	}
	return r.endSimulation()
}

// endSimulation restores the live subnet in the what-if, and discards the staged tables: the switches have changed.
func (r *run) endSimulation() error {
	if _, err := r.Session.Restore(r.Ctx, nil, failures.Failure{}); err != nil {
		return err
	}
	r.Session.Publish(session.ChangeStaged, (*session.State).Unstage)
	return nil
}

// undrain runs an undrain command.
func (r *run) undrain(what string) error {
	if _, err := r.options(); err != nil { // it opens the journal that the command names
		return err
	}
	all, err := commits.Drains(r.Ctx, r.Session)
	if err != nil {
		return fmt.Errorf("find the drain in the journal: %w; hint: if the drain had journal=FILE, undrain needs the "+
			"same", err)
	}
	d, err := r.findDrain(what, all)
	if err != nil {
		return err
	}
	steps := []int64{d.Ports.After, d.Tables.After}
	for _, id := range slices.DeleteFunc(steps, func(id int64) bool { return id == 0 }) {
		r.live, r.isPreviewed = nil, false
		var rep commits.Report
		var opt commits.Options
		err := r.planAndWrite(func(o commits.Options) (_ commits.Report, note string, err error) {
			o.Note = d.UndrainNote(id == d.Ports.After)
			opt = o
			if id == d.Ports.After && d.Tables.After != 0 && !o.Confirmed {
				note = "then, when the links are up, write the tables from before the drain"
			}
			rep, _, err = commits.Rollback(r.Ctx, r.Session, id, o)
			return rep, note, err
		})
		switch {
		case err != nil || !opt.Confirmed || opt.DryRun:
			return err
		case len(rep.LinksDown) > 0:
			return fmt.Errorf("the links of %s did not come up; hint: when they are up, run '%s' again",
				prose.List(rep.LinksDown, mostNodes), r.command())
		}
		if err := r.endSimulation(); err != nil {
			return err
		}
	}
	return nil
}

// findDrain returns the drain that the command names. It must be the latest, because the tables from before it are
// written.
func (r *run) findDrain(what string, all []commits.Drain) (commits.Drain, error) {
	f := r.Session.State().Live.Fabric
	name := strings.Join(r.words(), "/") // a drained switch may be unreachable
	d, place, err := r.subject(what, f)
	isControlled := func(c fabricwrite.Control) bool { return c.GUID == place.GUID && int(c.Num) == place.Port }
	at := slices.IndexFunc(all, func(x commits.Drain) bool {
		switch {
		case x.What != what:
			return false
		case x.Name == name || err == nil && x.Name == d.Name:
			return true
		case err != nil: // a host with its port disabled, or a switch
			return what != "link" && strings.HasPrefix(x.Name, name)
		}
		if what != "link" {
			return false
		}
		peer := f.Ports[d.named].Peer
		return peer != fabric.None && x.Name == f.PortName(peer) || slices.ContainsFunc(x.Ports.Controls, isControlled)
	})
	if err != nil && at < 0 {
		return commits.Drain{}, err
	}
	switch {
	case at < 0:
		return commits.Drain{}, fmt.Errorf("%s is not drained; hint: 'history' lists the commits of "+
			"drains; if the drain had journal=FILE, undrain needs the same", d.Name)
	case at > 0:
		return commits.Drain{}, fmt.Errorf("%s was drained before %s; hint: run 'undrain %s %s' first", all[at].Name,
			all[0].Name, all[0].What, lang.Quote(all[0].Name))
	}
	return all[at], nil
}
