// SPDX-License-Identifier: Apache-2.0

package shell_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/source"
)

// console opens several sources, and returns a function that runs commands on them and returns all that is said.
func console(t *testing.T, opt session.Options, sources ...string) func(text string, asJSON bool) (string, error) {
	t.Helper()
	all, err := source.ParseAll(sources, nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	var sessions []*session.Session
	var begun []error
	for _, n := range all {
		s, err := session.Open(t.Context(), n.Source, opt)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		begun = append(begun, s.Start(t.Context()))
		names, sessions = append(names, n.Name), append(sessions, s)
	}
	subnets := shell.NewSubnets(names, sessions)
	for i, n := range subnets.All() {
		n.Troubled(begun[i])
	}
	return func(text string, asJSON bool) (string, error) {
		var out bytes.Buffer
		err := subnets.Run(t.Context(), "test", text, &shell.Output{
			W: &out, Notes: &out, Form: prose.When(asJSON, answer.FormJSON, answer.FormText),
		})
		return out.String(), err
	}
}

// TestSourcesDiffer: the comparison of two subnets is correct: nodes are shared, the subnet is the same, tables and
// their engine differ. A setting makes no difference.
func TestSourcesDiffer(t *testing.T) {
	commit := func(on, engine string) string {
		return "on " + on + " engine " + engine + "; on " + on + " route; on " + on + " write on; on " + on +
			" commit yes force-interrupt force-loop; on " + on + " engine minhop"
	}
	const same, alike = "is the same subnet as a", "all subnets are equal"
	for _, c := range []struct {
		name     string
		sources  []string
		commands string
		says     []string
		never    []string
	}{
		{
			"one subnet", []string{"a=sim:fattree:2,4", "b=sim:fattree:2,4"}, "", []string{same},
			[]string{"tables", alike},
		},
		{
			"of another size", []string{"a=sim:fattree:2,4", "b=sim:fattree:2,8"}, "",
			[]string{"14 of 44 nodes have GUIDs of nodes in a"}, []string{same},
		},
		{
			"of another kind", []string{"a=sim:hypercube:3", "b=sim:fattree:2,4"}, "",
			[]string{"14 of 14 nodes have GUIDs of nodes in a"}, []string{same},
		},
		{"with other tables", []string{"a=sim:fattree:2,4", "b=sim:fattree:2,4"}, commit("b", "ftree"),
			[]string{"has the nodes of a, but differs from it in 2 forwarding entries"}, []string{same}},
		{"rails", []string{"sim:rails:3,fattree:2,4"}, "", []string{alike}, []string{"nodes"}},
		{"a setting alone", []string{"sim:rails:3,fattree:2,4"}, "on rail-2 engine updn", []string{alike},
			[]string{"updn"}},
		{
			"routes that are not on the switches", []string{"sim:rails:3,fattree:2,4"},
			"on rail-2 engine ftree; on rail-2 route", []string{alike}, nil,
		},
		{
			"a rail with other tables", []string{"sim:rails:3,fattree:2,4"}, commit("rail-2", "ftree"),
			[]string{"rail-2  tables      2 of 84 forwarding entries"}, []string{alike},
		},
		{"engines of tables", []string{"sim:rails:3,fattree:2,6"}, commit("rail-1", "updn") + ";" +
			commit("rail-2", "ftree") + ";" + commit("rail-3", "updn"),
			[]string{"rail-2  engine      engine ftree, most others have updn"}, []string{alike}},
	} {
		run := console(t, session.Options{StateDir: t.TempDir()}, c.sources...)
		if c.commands != "" {
			if text, err := run(c.commands, false); err != nil {
				t.Errorf("%s: %v\n%s", c.name, err, text)
				continue
			}
		}
		text, err := run("sources differ", false)
		if err != nil || slices.ContainsFunc(c.says, func(s string) bool { return !strings.Contains(text, s) }) ||
			slices.ContainsFunc(c.never, func(s string) bool { return strings.Contains(text, s) }) {
			t.Errorf("%s: %v, want %q and not %q\n%s", c.name, err, c.says, c.never, text)
		}
		verdict := prose.When(slices.Contains(c.says, alike), `"verdict":"ok"`, `"verdict":"found"`)
		for _, command := range []string{"sources", "sources differ"} {
			if text, err := run(command, true); err != nil || !strings.Contains(text, verdict) {
				t.Errorf("%s: %s: %v, want %s\n%s", c.name, command, err, verdict, text)
			}
		}
	}
}

// TestSourcesNameEngine: the engine of a subnet is that of the tables on its switches, known after a commit alone.
func TestSourcesNameEngine(t *testing.T) {
	run := console(t, session.Options{StateDir: t.TempDir()}, "sim:rails:2,fattree:2,6")
	text, err := run("on rail-1 engine ftree; on rail-2 engine updn; on rail-2 route; on rail-2 write on; on rail-2 "+
		"commit yes force-interrupt force-loop; on rail-2 engine dor", false)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	text, err = run("sources", true)
	var a struct{ Subnets []struct{ Engine string } }
	if err != nil || json.Unmarshal([]byte(text), &a) != nil || len(a.Subnets) != 2 || a.Subnets[0].Engine != "" ||
		a.Subnets[1].Engine != "updn" {
		t.Errorf("%v\n%s", err, text)
	}
}

// TestSourcesNotRead: a subnet that was not read is not alike, and one alone is compared with nothing.
func TestSourcesNotRead(t *testing.T) {
	for sources, fails := range map[string]bool{
		"a=sim:fattree:2,4 b=ibsim:127.0.0.1:1":                          true,
		"a=sim:fattree:2,4 b=sim:fattree:2,4,rail=2 c=ibsim:127.0.0.1:1": false,
	} {
		run := console(t, session.Options{Later: true}, strings.Fields(sources)...)
		text, err := run("sources differ", false)
		if (err != nil) != fails || !strings.Contains(text, "not read") || strings.Contains(text, "alike") {
			t.Errorf("%s: %v\n%s", sources, err, text)
		}
		if text, err := run("sources", true); err != nil || !strings.Contains(text, `"verdict":"unknown"`) ||
			!strings.Contains(text, `"switches":null`) {
			t.Errorf("%s: %v\n%s", sources, err, text)
		}
	}
}

// TestAnswersUnderTheirSubnets: each answer of a command on all subnets stands under the name of its own, whichever of
// them fail, with or without an answer.
func TestAnswersUnderTheirSubnets(t *testing.T) {
	for broken := range 3 {
		for _, c := range []struct{ command, answer string }{
			// fail after their answer
			{"check reach", "reach of whatif"}, {"trace node-0001 node-0008", "of whatif"},
			{"check loops", "loops of whatif"},
			{"report text -", "State "},
			{"show lft node-0008", ""}, {"trace node-0001 nobody", ""}, // fail without one
		} {
			run := console(t, session.Options{}, "a=sim:fattree:2,4", "b=sim:fattree:2,4", "c=sim:fattree:2,4")
			names := []string{"a", "b", "c"}
			if text, err := run("on all fail link leaf-01 4; on "+names[broken]+" fail node node-0008",
				false); err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			text, _ := run("on all "+c.command, false)
			var under []string // the name above each answer
			name := ""
			for line := range strings.Lines(text) {
				if x, ok := strings.CutSuffix(line, ":\n"); ok && slices.Contains(names, x) {
					name = x
				}
				if c.answer != "" && strings.Contains(line, c.answer) && !strings.Contains(line, "do not arrive") {
					under = append(under, name)
				}
			}
			if c.answer != "" && !slices.Equal(under, names) {
				t.Errorf("%s with %s broken: answers stand under %q\n%s", c.command, names[broken], under, text)
			}
			if c.answer == "" && name != "" {
				t.Errorf("%s with %s broken: nothing stands under %s\n%s", c.command, names[broken], name, text)
			}
		}
	}
}
