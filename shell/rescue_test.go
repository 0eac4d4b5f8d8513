// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/shell/session/sessiontest"
)

// opened is a shell on a source that has been read.
func opened(t *testing.T, from string) *Shell {
	t.Helper()
	return New(sessiontest.Open(t, from))
}

func runs(t *testing.T, sh *Shell, text string) error {
	t.Helper()
	return sh.Run(t.Context(), "test", text, &Output{W: &bytes.Buffer{}, Notes: &bytes.Buffer{}})
}

// described is all that a rescue is to bring back, in words that do not depend on the order of links and failures.
func described(t *testing.T, sh *Shell) []string {
	t.Helper()
	st := sh.Session().State()
	engine, options := st.Settings.Words()
	out := []string{"engine " + engine + " " + options, fmt.Sprint("adaptive ", st.Adapting)}
	whole := st.Whole()
	name := func(p fabric.PortIndex) string {
		n := &whole.Nodes[whole.Ports[p].Node]
		return fmt.Sprintf("%s 0x%x/%d", n.Desc, n.GUID, whole.Ports[p].Num)
	}
	failed := st.FailedLinks()
	var links []string
	for _, l := range whole.Links() {
		ends := []string{name(l.A), name(l.B)}
		slices.Sort(ends)
		links = append(links, fmt.Sprint(ends, failed[l]))
	}
	slices.Sort(links)
	out = append(out, links...)
	if st.Staged != nil {
		t := st.Staged.Tables
		for sw := range t.Fabric.NumSwitches() {
			out = append(out, fmt.Sprintf("%s: %v", t.Fabric.NodeName(t.Fabric.Switches[sw]),
				bytes.TrimRight(t.LFT.Row(sw), "\xff")))
		}
		out = append(out, fmt.Sprint("groups: ", t.Adaptive != nil))
	}
	return out
}

// firstDifference is the first lines that two descriptions have not in common, "" for none.
func firstDifference(got, want []string) string {
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			return fmt.Sprintf("line %d: got %q, want %q", i, got[i:min(i+1, len(got))], want[i:min(i+1, len(want))])
		}
	}
	return ""
}

// rescue saves a session and returns a new one in which what was saved was run.
func rescue(t *testing.T, sh *Shell, from string) (*Shell, Rescued) {
	t.Helper()
	r, err := sh.Rescue(filepath.Join(t.TempDir(), "it's saved"))
	if err != nil {
		t.Fatal(err)
	}
	again := opened(t, from)
	if r.Commands == "" {
		return again, r
	}
	if err := runs(t, again, `run "`+r.Commands+`"`); err != nil {
		text, _ := os.ReadFile(r.Commands)
		t.Fatalf("%v\n%s", err, text)
	}
	return again, r
}

// TestRescue: of what somebody did, a new session has all again.
func TestRescue(t *testing.T) {
	dir := t.TempDir()
	file := func(name, spec string) string {
		path := filepath.Join(dir, name)
		if err := runs(t, opened(t, "sim:"+spec), "dump topology '"+path+"'"); err != nil {
			t.Fatal(err)
		}
		return path
	}
	small, large := file("small net", "fattree:2,8"), file("large", "fattree:2,12")
	names := filepath.Join(dir, "names")
	if err := os.WriteFile(names, []byte("0x0000000000000001 \"else # where\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	conf := filepath.Join(dir, "opensm.conf")
	if err := os.WriteFile(conf, []byte("routing_engine updn\nlmc 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for from, texts := range map[string][]string{
		"sim:fattree:2,8": {
			"engine updn lmc=1; fail switch spine-01; route",
			"fail link leaf-01 5; fail node node-0005; restore link leaf-01 5; fail link leaf-02 6; undo 2; route",
			"fail switch spine-01; restore link spine-01 3; restore link spine-01 4",
			"fail director 'spine-0*'; restore switch spine-02; fail link spine-02 1; undo 2",
			"fail link leaf-01 5; add switch 'new \"one\"' leaf-01/5 guid=0x4711 ports=40; add link 'new \"one\"/7' " +
				"'new \"one\"/8'; route",
			"fail link leaf-02 5; move node node-0004 leaf-02/5; add node 'new host' leaf-01/4; route",
			"names " + names + "; fail node node-0003; fail link leaf-04 6; route",
			"engine from=" + conf + " lmc=2; fail link leaf-04 6; route",
			"load topology " + large + "; fail switch spine-01; route",
			"load topology '" + small + "'; fail link leaf-01 5",
			"load topology " + large + " over=no; fail link leaf-01 7; route",
			"fail switch leaf-01; route; adaptive on",
			"route",
		},
		"file:" + small: {
			"route",
			"set sm node-0004; fail node node-0003; route",
			"set sm spine-02; engine minhop lmc=1; route",
		},
	} {
		for _, text := range texts {
			sh := opened(t, from)
			if err := runs(t, sh, text); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			again, r := rescue(t, sh, from)
			if differs := firstDifference(described(t, again), described(t, sh)); differs != "" {
				saved, _ := os.ReadFile(r.Commands)
				t.Errorf("%s, %s: %s; saved as\n%s", from, text, differs, saved)
			}
		}
	}
}

// TestRescueNothing: where there is nothing to save nothing is written.
func TestRescueNothing(t *testing.T) {
	sh := opened(t, "sim:fattree:2,4")
	if r, err := sh.Rescue(filepath.Join(t.TempDir(), "none")); err != nil || r.Commands+r.Tables != "" {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestRescueStale: staged tables of another what-if are saved whole, and laid over the what-if of the session.
func TestRescueStale(t *testing.T) {
	sh := opened(t, "sim:fattree:2,8")
	if err := runs(t, sh, "fail switch spine-01; route; fail switch spine-02"); err != nil {
		t.Fatal(err)
	}
	was := sh.Session().State().Staged.Tables.LFT
	again, r := rescue(t, sh, "sim:fattree:2,8")
	if st := again.Session().State(); st.Staged == nil || len(st.Failures) != 2 {
		t.Errorf("staged %v, %d failures", st.Staged, len(st.Failures))
	}
	if err := runs(t, again, "undo; load routing \""+r.Tables+"\""); err != nil {
		t.Fatal(err)
	}
	now := again.Session().State().Staged.Tables.LFT
	for sw := range fabric.SwitchIndex(12) {
		if !bytes.Equal(was.Row(sw), now.Row(sw)) {
			t.Errorf("the table of switch %d differs", sw)
		}
	}
}

// TestRescueAnything: random failures, repairs, additions and undoings come back.
func TestRescueAnything(t *testing.T) {
	r := testenv.Rand(t)
	const from = "sim:fattree:2,8"
	for range testenv.Count(t, 20, 1000) {
		sh := opened(t, from)
		var did []string
		for number := range 12 {
			port := func() string { return fmt.Sprintf("leaf-%02d/%d", 1+r.IntN(8), 1+r.IntN(8)) }
			text := []string{
				"fail link " + port(), "fail link " + port(), "fail switch spine-0" + fmt.Sprint(1+r.IntN(4)),
				fmt.Sprintf("fail node node-%04d", 2+r.IntN(30)),
				"fail director 'spine-0*'", "restore link " + port(), "restore switch spine-0" +
					fmt.Sprint(1+r.IntN(4)), fmt.Sprint("undo ", 1+r.IntN(12)),
				"add link " + port() + " " + port(), fmt.Sprintf("add switch new-%d %s %s", number, port(), port()),
				fmt.Sprintf("move node node-%04d %s", 2+r.IntN(30), port()),
				fmt.Sprintf("add node host-%d %s", number, port()),
			}[r.IntN(12)]
			if err := runs(t, sh, text); err == nil {
				did = append(did, text)
			}
		}
		again, saved := rescue(t, sh, from)
		if differs := firstDifference(described(t, again), described(t, sh)); differs != "" {
			text, _ := os.ReadFile(saved.Commands)
			t.Fatalf("%s: %s; saved as\n%s", strings.Join(did, "; "), differs, text)
		}
	}
}
