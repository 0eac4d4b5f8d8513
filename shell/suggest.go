// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/classify"
	"example.org/ibconsole/routing/engines/torus"
	"example.org/ibconsole/shell/lang"
)

func suggestCommands() []Spec {
	return []Spec{{
		Name: "suggest", Summary: "find out what an engine wants to be told", Subcommands: []Spec{
			{Name: "guids", Summary: "which switches are roots, which adapters compute and which serve: files for ftree, shown or written", Run: (*call).suggestGUIDs,
				Help: "Shows what switches and adapters were taken for and which suggestions ftree was tried with. With DIR it writes root_guids,\n" +
					"cn_guids and, where there are I/O, service or aggregation nodes, io_guids to that new directory.",
				Args: []lang.Arg{{Name: "DIR", Kind: lang.KindFile, Optional: true}}},
			{Name: "torus", Summary: "which torus or mesh the subnet is: a configuration for torus-2QoS, shown or written", Run: (*call).suggestTorus,
				Help: "clear=yes takes the staged tables: where multicast and unicast have a credit loop together around a lost switch, it moves the\n" +
					"datelines, and so the root of the tree, to where they have none. Some paths get other SLs then.",
				Args:    []lang.Arg{{Name: "FILE", Kind: lang.KindFile, Optional: true}},
				Options: []lang.Option{{Name: "clear", Kind: lang.KindWord, Words: []string{"yes", "no"}, Summary: "with datelines by which the staged multicast tree has no credit loop; no"}}},
		}}}
}

func (c *call) suggestTorus() error {
	find := c.session.TorusConf
	if c.Option("clear", "no") == "yes" {
		find = c.session.ClearTorusConf
	}
	conf, err := find(c.ctx)
	if err != nil {
		return err
	}
	var text strings.Builder
	if err := torus.WriteConfig(&text, conf); err != nil {
		return err
	}
	path := c.Arg(0)
	if path != "" {
		if err := files.Write(path, func(w io.Writer) error { _, err := io.WriteString(w, text.String()); return err }); err != nil {
			return err
		}
	}
	return c.out.Answer(torusConf{text.String(), path})
}

type torusConf struct {
	Conf string `json:"conf"`
	File string `json:"file,omitempty"`
}

func (a torusConf) Text(w io.Writer) {
	_, _ = io.WriteString(w, a.Conf)
	if a.File != "" {
		_, _ = fmt.Fprintf(w, "written to %s (try: engine torus-2QoS torus_config=%s)\n", quoteFile(a.File), lang.Quote(quoteFile(a.File)))
	}
}

// suggestion is what suggest guids answers as JSON.
type suggestion struct {
	Switches       []switchClass  `json:"switches"`
	Adapters       []adapterClass `json:"adapters"`
	Tried          []attempt      `json:"tried"`
	Roots          int            `json:"roots"`
	ComputeNodes   int            `json:"compute_nodes"`
	IONodes        int            `json:"io_nodes"`
	MaxReverseHops uint16         `json:"max_reverse_hops"`
	Dir            string         `json:"dir,omitempty"`
	Files          []string       `json:"files,omitempty"`
	Command        string         `json:"command,omitempty"`
}

type switchClass struct {
	Layer     string `json:"layer"`
	Rank      int32  `json:"rank"`
	Pattern   string `json:"pattern"`
	Switches  int    `json:"switches"`
	MinDegree int    `json:"min_degree"`
	MaxDegree int    `json:"max_degree"`
	MinHosts  int    `json:"min_hosts"`
	MaxHosts  int    `json:"max_hosts"`
	Example   string `json:"example"`
}

type adapterClass struct {
	Role    string `json:"role"`
	Pattern string `json:"pattern"`
	Ports   int    `json:"ports"`
	Example string `json:"example"`
	At      string `json:"at"`
	Reason  string `json:"reason,omitempty"`
}

type attempt struct {
	What        string `json:"what"`
	Error       string `json:"error,omitempty"`
	Pairs       int64  `json:"pairs"`
	Unreachable int64  `json:"unreachable"`
	Aggregation int64  `json:"unreachable_aggregation"`
}

func (c *call) suggestGUIDs() error {
	st := c.session.State()
	s, err := classify.Suggest(c.ctx, st.Paper(), c.session.Analysis().Hints(), routing.Options{})
	if err != nil {
		return err
	}
	answer := suggestion{
		Switches: switchClasses(s.Classes), Adapters: adapterClasses(s.Classes), Tried: attempts(s.Tried),
		Roots: len(s.Roots), ComputeNodes: len(s.ComputeNodes), IONodes: len(s.IONodes), MaxReverseHops: s.MaxReverseHops,
	}
	if c.Arg(0) != "" {
		answer.Dir = c.Arg(0)
		if answer.Files, answer.Command, err = writeSuggestion(answer.Dir, s); err != nil {
			return err
		}
	}
	return c.out.Answer(&answer)
}

func switchClasses(c *classify.Classes) (all []switchClass) {
	for _, g := range c.SwitchGroups() {
		all = append(all, switchClass{g.Layer.String(), g.Rank, g.Pattern, len(g.Switches), g.MinDegree, g.MaxDegree, g.MinHosts, g.MaxHosts,
			c.Fabric.NodeName(c.Fabric.Switches[g.Switches[0]])})
	}
	return all
}

func adapterClasses(c *classify.Classes) (all []adapterClass) {
	f := c.Fabric
	for _, g := range c.AdapterGroups() {
		sw, _ := f.AttachedSwitch(g.Ends[0])
		all = append(all, adapterClass{g.Role.String(), g.Pattern, len(g.Ends), f.PortName(g.Ends[0]), f.NodeName(f.Switches[sw]), g.Reason})
	}
	return all
}

func attempts(tried []classify.Attempt) (all []attempt) {
	for _, a := range tried {
		t := attempt{What: a.What, Pairs: a.Pairs, Unreachable: a.Unreachable, Aggregation: a.Aggregation}
		if a.Err != nil {
			t.Error = a.Err.Error()
		}
		all = append(all, t)
	}
	return all
}

func (s *suggestion) Text(w io.Writer) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(tw, "SWITCHES\tLAYER\tRANK\tNAMED\tCABLES\tHOSTS\tSUCH AS")
	for _, g := range s.Switches {
		_, _ = fmt.Fprintf(tw, "%d\t%s\t%d\t%s\t%s\t%s\t%s\n", g.Switches, g.Layer, g.Rank, g.Pattern,
			span(g.MinDegree, g.MaxDegree), span(g.MinHosts, g.MaxHosts), g.Example)
	}
	_ = tw.Flush()
	_, _ = fmt.Fprintln(tw, "\nADAPTERS\tROLE\tNAMED\tSUCH AS\tON\tBECAUSE")
	for _, g := range s.Adapters {
		_, _ = fmt.Fprintf(tw, "%d\t%s\t%s\t%s\t%s\t%s\n", g.Ports, g.Role, g.Pattern, g.Example, g.At, g.Reason)
	}
	_ = tw.Flush()
	_, _ = fmt.Fprintln(w)
	for _, t := range s.Tried {
		_, _ = fmt.Fprintf(w, "tried %s: %s\n", t.What, t.outcome())
	}
	_, _ = fmt.Fprintf(w, "ftree routes with %s, %s and %s, max_reverse_hops %d\n", count(s.Roots, "root"), count(s.ComputeNodes, "compute node"),
		count(s.IONodes, "other node"), s.MaxReverseHops)
	if s.Command == "" {
		_, _ = fmt.Fprintln(w, "suggest guids DIR writes the files")
		return
	}
	_, _ = fmt.Fprintf(w, "%s written to %s\ntry: %s\n", strings.Join(s.Files, ", "), quoteFile(s.Dir), s.Command)
}

func (t *attempt) outcome() string {
	switch {
	case t.Error != "":
		return t.Error
	case t.Unreachable > 0:
		return fmt.Sprintf("routes, but of %d pairs of ports %d of hosts do not reach each other", t.Pairs, t.Unreachable)
	case t.Aggregation > 0:
		return fmt.Sprintf("routes; all hosts reach each other; of %d pairs of ports %d with an aggregation node do not", t.Pairs, t.Aggregation)
	}
	return "routes; all reach each other"
}

func span(low, high int) string {
	return prose.When(low == high, fmt.Sprint(low), fmt.Sprintf("%d-%d", low, high))
}

// writeSuggestion writes the files of a suggestion to a new directory, and says by which command ftree takes them.
func writeSuggestion(dir string, s *classify.Suggestion) (names []string, command string, err error) {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, "", files.Err(err)
	}
	f := s.Classes.Fabric
	var roots []fabric.PortIndex
	for _, r := range s.Roots {
		roots = append(roots, f.SwitchNode(r).FirstPort)
	}
	command = "engine ftree"
	for _, file := range []struct {
		name, option string
		ports        []fabric.PortIndex
	}{{"root_guids", "root_guid_file", roots}, {"cn_guids", "cn_guid_file", s.ComputeNodes}, {"io_guids", "io_guid_file", s.IONodes}} {
		if len(file.ports) == 0 {
			continue
		}
		path := filepath.Join(dir, file.name)
		if err := files.Write(path, func(w io.Writer) error { return writeGUIDs(w, f, file.ports) }); err != nil {
			return nil, "", err
		}
		names = append(names, file.name)
		command += " " + file.option + "=" + lang.Quote(quoteFile(path))
	}
	if s.MaxReverseHops > 0 {
		command += fmt.Sprintf(" max_reverse_hops=%d", s.MaxReverseHops)
	}
	return names, command, nil
}

// longestName is how many runes of a name a line of GUIDs has: OpenSM reads no more
// than 255 bytes of a line, and takes the rest for another one.
const longestName = 50

// writeGUIDs writes the GUIDs of ports, a line each, with names as comments.
func writeGUIDs(w io.Writer, f *fabric.Fabric, ports []fabric.PortIndex) error {
	for _, p := range ports {
		name := []rune(f.NodeName(f.Ports[p].Node))
		if _, err := fmt.Fprintf(w, "0x%016x # %s\n", f.Ports[p].GUID, string(name[:min(len(name), longestName)])); err != nil {
			return err
		}
	}
	return nil
}
