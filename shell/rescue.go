// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/failures"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing/engines"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/dumps"
)

// Rescued holds the names of the files that [Shell.Rescue] wrote. The name of a file that was not needed is "".
type Rescued struct {
	Source   string
	Commands string // recreates the settings and the what-if, and loads Tables
	Tables   string // the staged tables, as dump routing writes them
}

// Rescue saves the settings, the what-if and the staged tables of a session after an internal error. It writes them to
// files whose names begin with prefix. It writes no file if the session has nothing to save.
func (sh *Shell) Rescue(prefix string) (r Rescued, err error) {
	st := sh.session.State()
	r.Source = st.Source.String()
	commands := recreate(&st)
	if st.Staged != nil && !st.Written {
		file := prefix + ".routing"
		if err = files.Write(file, func(w io.Writer) error { return dumps.WriteStaged(sh.session, w) }); err == nil {
			r.Tables = file
			commands = append(commands, "load routing "+lang.Quote(file)+prose.When(st.Stale, " reroute=no", ""))
			if st.Adapting {
				commands = append(commands, "adaptive on")
			}
		}
	}
	if len(commands) == 0 {
		return r, err
	}
	file := prefix + ".commands"
	wrote := files.Write(file, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "# the session of %s, saved at %s after an internal error\n%s\n",
			fabric.Escape(r.Source), when.Text(time.Now()), strings.Join(commands, "\n"))
		return err
	})
	if wrote != nil {
		return r, wrote
	}
	r.Commands = file
	return r, err
}

// recreate returns the commands that restore the settings and the what-if of a session. The commands identify nodes by
// GUID.
func recreate(st *session.State) (commands []string) {
	add := func(words ...string) { commands = append(commands, strings.Join(words, " ")) }
	if conf, chain, given := st.Settings.Asked(); conf != "" || len(given) > 0 ||
		!slices.Equal(chain, []string{engines.Default}) {
		words := []string{"engine"}
		if len(chain) > 0 {
			words = append(words, lang.Quote(strings.Join(chain, ",")))
		}
		if conf != "" {
			words = append(words, "from="+lang.Quote(absolute(conf)))
		}
		for _, g := range given {
			words = append(words, g.Name+"="+lang.Quote(g.Value))
		}
		add(words...)
	}
	if f := st.Live.Fabric; st.Source.Offline() && f.SMPort != fabric.None && (st.Base != nil || st.Staged != nil) {
		add("set sm", portByGUID(f, f.SMPort))
	}
	if st.Base == nil {
		return commands
	}
	if path, opt := st.LoadedTopology(); path != "" {
		add("load topology", lang.Quote(absolute(path))+prose.When(opt.AsIbsim, " as=ibsim", "")+
			prose.When(opt.Alone, " over=no", ""))
	}
	whole, failed := st.Whole(), map[fabric.Link]bool{}
	for i := range st.Failures {
		f := &st.Failures[i]
		for _, command := range repeatCommands(whole, f, failed) {
			add(command, " #", f.Verb(), f.What, f.Name)
		}
		for _, l := range f.Links {
			failed[l] = !f.Repair && !f.Added
		}
	}
	return commands
}

// repeatCommands returns the commands that repeat a simulated failure, repair or addition. The argument failed holds
// the links that failed before. Steps that change no link are omitted, because their commands would fail.
func repeatCommands(whole *fabric.Fabric, f *failures.Failure, failed map[fabric.Link]bool) []string {
	port := func(p fabric.PortIndex) string { return portByGUID(whole, p) }
	switch {
	case f.Moved:
		from, to := f.Links[0].A, f.Links[0].B
		if old := f.Left[0]; to == old.A || to == old.B {
			from, to = to, from
		}
		return []string{"move node " + port(from) + " " + port(to)}
	case f.Added && len(f.New) == 0:
		return []string{"add link " + port(f.Links[0].A) + " " + port(f.Links[0].B)}
	case f.Added:
		n := &f.New[0]
		words := []string{"add", f.What, lang.Quote(n.Desc)}
		for _, l := range f.Links {
			words = append(words, port(l.A))
		}
		words = append(words, fmt.Sprintf("guid=0x%016x", n.GUID))
		if n.Type == mad.NodeSwitch {
			words = append(words, fmt.Sprintf("ports=%d", n.NumPorts))
		}
		return []string{strings.Join(words, " ")}
	}
	verb := prose.When(f.Repair, "restore ", "fail ")
	changes := func(links []fabric.Link) bool {
		return slices.ContainsFunc(links, func(l fabric.Link) bool { return failed[l] == f.Repair })
	}
	if len(f.Nodes) == 0 {
		if !changes(f.Links) {
			return nil
		}
		return []string{verb + "link " + port(f.Links[0].A)}
	}
	what := f.What
	if what == "director" {
		// The name begins with the argument of the original command, unless nodes were renamed since.
		word, _, _ := strings.Cut(f.Name, " ")
		if nodes, _, err := places.ResolveSystem(whole, word); err == nil && slices.Equal(nodes, f.Nodes) &&
			changes(f.Links) {
			return []string{"fail director " + lang.Quote(word)}
		}
		what = "switch"
	}
	var commands []string
	for _, n := range f.Nodes {
		links := slices.DeleteFunc(slices.Clone(f.Links), func(l fabric.Link) bool {
			return whole.Ports[l.A].Node != n && whole.Ports[l.B].Node != n
		})
		if changes(links) {
			commands = append(commands, fmt.Sprintf("%s%s guid:0x%016x", verb, what, whole.Nodes[n].GUID))
		}
		for _, l := range links {
			failed[l] = !f.Repair
		}
	}
	return commands
}

// portByGUID returns the argument for a port: the GUID of its node, and the port number.
func portByGUID(f *fabric.Fabric, p fabric.PortIndex) string {
	port := &f.Ports[p]
	return fmt.Sprintf("guid:0x%016x/%d", f.Nodes[port.Node].GUID, port.Num)
}

// absolute returns an absolute path.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
