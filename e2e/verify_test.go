// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/shell"
	answers "example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/source"
	"example.org/ibconsole/shell/session/verify"
)

// verification runs the three programs over an ibsim that OpenSM has routed.
func verification(t *testing.T, spec string) *ibsimtest.Sim {
	t.Helper()
	for _, tool := range []string{"opensm", "ibnetdiscover", "dump_fts", "ibtracert"} {
		testenv.Tool(t, tool)
	}
	stateHome(t)
	net := filepath.Join(t.TempDir(), "net")
	ibconsole(t, "-s", "sim:"+spec, "-c", "dump topology "+net)
	sim := ibsimtest.Start(t, net)
	ibsimtest.OpenSM(t, sim)
	return sim
}

type verificationJSON struct {
	Checks []struct {
		Program     string
		Amounts     []verify.Amount `json:"-"`
		Differ      int
		Differences []string `json:"-"`
		NotCompared string   `json:"not_compared"`
	}
	Since   []string `json:"changed_since"`
	Untried []string
}

func parseVerification(t *testing.T, out string) (v verificationJSON) {
	t.Helper()
	var tables struct {
		Compared []struct {
			Program string
			verify.Amount
		}
		Differences []struct{ Program, Text string }
	}
	if err := errors.Join(json.Unmarshal([]byte(out), &tables), json.Unmarshal([]byte(out), &v)); err != nil ||
		len(v.Checks) != 3 {
		t.Fatalf("%v: %s", err, out)
	}
	for i := range v.Checks {
		c := &v.Checks[i]
		for _, x := range tables.Compared {
			if x.Program == c.Program {
				c.Amounts = append(c.Amounts, x.Amount)
			}
		}
		for _, x := range tables.Differences {
			if x.Program == c.Program {
				c.Differences = append(c.Differences, x.Text)
			}
		}
	}
	return v
}

// TestVerifyOfAHealthySubnet has 64 as highest LID, which dump_fts does not print.
func TestVerifyOfAHealthySubnet(t *testing.T) {
	for _, spec := range []string{"fattree:2,8", "torus:4x4 hosts=3"} {
		t.Run(spec, func(t *testing.T) {
			sim := verification(t, spec)
			file := filepath.Join(t.TempDir(), "report.md")
			n := testenv.Count(t, 50, 1000)
			out := ibconsole(t, "--json", "-s", "ibsim:"+sim.Name, "-c", "doctor verify "+file+" traces="+
				strconv.Itoa(n))
			v := parseVerification(t, out)
			for _, c := range v.Checks {
				if c.Differ > 0 || c.NotCompared != "" || len(c.Amounts) == 0 || c.Amounts[0].Count == 0 {
					t.Errorf("%+v", c)
				}
			}
			if c := v.Checks[2].Amounts[0]; c.Count != n {
				t.Errorf("%d paths were traced, not %d", c.Count, n)
			}
			report, err := os.ReadFile(file)
			if err != nil || !strings.Contains(string(report), "| ibtracert | "+prose.Count(n, "path")) {
				t.Errorf("%v:\n%s", err, report)
			}
		})
	}
}

// TestVerifyNamesAPlantedDifference changes an entry after the sweep, and removes a cable.
func TestVerifyNamesAPlantedDifference(t *testing.T) {
	sim := verification(t, "fattree:2,4")
	from := "ibsim:" + sim.Name
	src, err := source.Parse(from)
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.Open(t.Context(), src, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	f, tables := s.State().Live.Fabric, s.State().Live.Tables
	leaf, lid := f.SwitchByGUID(0x200000), f.Ports[f.PortByGUID(0x100009)].LID
	was := tables.Port(leaf, lid)
	is := 7 - was // the other one of the two spines, at ports 3 and 4
	lfts := filepath.Join(t.TempDir(), "lfts")
	ibconsole(t, "-s", from, "-c", "dump lfts "+lfts)
	plant(t, lfts, f.SwitchNode(leaf).GUID, lid, was, is)
	ibconsole(t, "-s", from, "-c", "load lfts "+lfts+"; write on; commit yes")
	sim.Console(`Unlink "S-0000000000200005"[4]`)

	var out strings.Builder
	err = shell.New(s).Run(t.Context(), "test", "doctor verify traces=1000",
		&shell.Output{W: &out, Form: answers.FormJSON})
	if err == nil {
		t.Error("differences are no error")
	}
	v := parseVerification(t, out.String())
	entry := f.NodeName(f.Switches[leaf]) + ", LID " + strconv.Itoa(int(lid)) + ": port " + strconv.Itoa(int(was)) +
		" in the sweep, port " + strconv.Itoa(int(is)) + " by dump_fts"
	if !slices.Equal(v.Checks[1].Differences, []string{entry}) {
		t.Errorf("dump_fts: %q, want %q", v.Checks[1].Differences, entry)
	}
	link := "spine-02/4 to leaf-04/4: ibnetdiscover finds no link"
	if !slices.Equal(v.Checks[0].Differences, []string{link}) {
		t.Errorf("ibnetdiscover: %q, want %q", v.Checks[0].Differences, link)
	}
	path := "node-0001 HCA-1/1 to LID " + strconv.Itoa(int(lid)) + ": line 3 of ibtracert is "
	if !slices.ContainsFunc(v.Checks[2].Differences, func(d string) bool { return strings.HasPrefix(d, path) }) {
		t.Errorf("ibtracert: %q, want %q", v.Checks[2].Differences, path)
	}
	since := f.NodeName(f.Switches[leaf]) + ", LID " + strconv.Itoa(int(lid)) + ": port " + strconv.Itoa(int(is)) +
		", was " + strconv.Itoa(int(was))
	if !slices.Contains(v.Since, since) {
		t.Errorf("changed since: %q, want %q", v.Since, since)
	}
}

// plant changes the entry of a dump.
func plant(t *testing.T, file string, guid uint64, lid uint16, was, is uint8) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), fmt.Sprintf("guid 0x%016x", guid))
	entry := fmt.Sprintf("\n0x%04x %03d ", lid, was)
	if !ok || !strings.Contains(rest, entry) {
		t.Fatalf("no entry %q in\n%s", entry, text)
	}
	rest = strings.Replace(rest, entry, fmt.Sprintf("\n0x%04x %03d ", lid, is), 1)
	if err := os.WriteFile(file, []byte(head+fmt.Sprintf("guid 0x%016x", guid)+rest), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestVerifyWantsOthersToReachTheSubnet checks the error if other programs cannot reach the subnet.
func TestVerifyWantsOthersToReachTheSubnet(t *testing.T) {
	oneLine(t, try("-s", "sim:fattree:2,4", "doctor", "verify"), exitFailed, "doctor verify: ",
		"simulated inside the program")
	oneLine(t, try("doctor", "verily"), exitUsage, `unexpected word "verily" after doctor`)
}

// TestUntriedIsWhatTheDocumentSays compares the list with the document.
func TestUntriedIsWhatTheDocumentSays(t *testing.T) {
	text, err := os.ReadFile("../docs/hardware.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range verify.Untried() {
		if !strings.Contains(string(text), "* "+u+"\n") {
			t.Errorf("docs/hardware.md does not contain %q", u)
		}
	}
}
