// SPDX-License-Identifier: Apache-2.0

package shell_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/lang"
)

// partial returns a source that lacks the forwarding table of one of four leaves with two hosts each: of 56 paths 14
// leave its hosts, and 12 more lead to them.
func partial(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "folder")
	if out, err := on(t, "sim:fattree:2,4", "dump ibdiagnet "+folder); err != nil {
		t.Fatal(err, out)
	}
	if err := os.Remove(filepath.Join(folder, "ibdiagnet2.far")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "ibdiagnet2.fdbs")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const head = "osm_ucast_mgr_dump_ucast_routes: Switch "
	tables := strings.Split(string(text), head)
	left := slices.DeleteFunc(slices.Clone(tables), func(s string) bool { return strings.HasPrefix(s, leaf4) })
	if len(left) != len(tables)-1 {
		t.Fatalf("%d of %d tables are left", len(left), len(tables))
	}
	if err := os.WriteFile(file, []byte(strings.Join(left, head)), 0o600); err != nil {
		t.Fatal(err)
	}
	return "ibdiagnet:" + folder
}

// leaf4 is the GUID of leaf-04, whose hosts are node-0007 and node-0008.
const leaf4 = "0x0000000000200003"

// TestTablesNotRead: what depends on a table that was not read is unknown: it is neither lost nor healthy. A check
// fails then unless strict=no is given, and other commands do not.
func TestTablesNotRead(t *testing.T) {
	const named, told = "not read: the forwarding tables of 1 switch: leaf-04", "not read: 1 forwarding table: leaf-04"
	source := partial(t)
	for command, tc := range map[string]struct {
		wants []string
		fails string // the error, "" for none
	}{
		"check reach":           {[]string{told, "30 arrive", "26 unknown"}, "26 of 56 paths are unknown"},
		"check reach strict=no": {[]string{"26 unknown", "warning: 26 of 56 paths are unknown"}, ""},
		"check loops":           {[]string{told, "0 loop", "26 unknown"}, "26 of 56 paths are unknown"},
		"check loops strict=no": {[]string{"26 unknown"}, ""},
		"check credits": {
			[]string{"credit loop: unknown"}, "is unknown: the forwarding tables of some switches",
		},
		"check load": {
			[]string{
				told, "30 paths", "26 unknown", "to hosts, 4xNDR: 8 directions, 5 to 5 paths, mean 5.0, std dev 0.0, " +
					"0 unused, 2 unknown",
			}, "26 paths over forwarding tables that were not read",
		},
		// Each of the 7 shifts sends 8 of the 56 paths.
		"check load pattern=shifts": {[]string{told, "unknown: 26 paths"}, "26 paths over"},
		"check":                     {nil, "26 of 56 paths are unknown"},
		"check strict=no":           {nil, ""},
		"balance switch": {
			[]string{"leaf-04): its forwarding table was not read", "0 of 6 switches unbalanced, 1 switch unknown"}, "",
		},
		"balance lid": {[]string{"leaf-04: its forwarding table was not read", "1 switch unknown"}, ""},
		// All paths from node-0007's own switch are unknown; none that is known comes by it.
		"who uses leaf-04":           {[]string{told, "0 of 30 paths use it", "26 more paths may use it"}, ""},
		"hosts job node-[0001-0008]": {[]string{told, "30 paths among them", "unknown: 26 more"}, ""},
		"report text -": {
			[]string{"56, 0 of them lost", "26 paths over tables that were not read", "the tables of leaf-04"}, "",
		},
		"report csv -": {
			[]string{"leaf-04,3,spine-01,4,4x,NDR,400,,", "spine-01,4,leaf-04,3,4x,NDR,400,,"}, "",
		},
		"report json -": {
			[]string{`"unknown":26`, `"tables_not_read":["leaf-04"]`, `"paths":null`}, "",
		},
		"compare engines minhop": {[]string{"0 (26 unknown)"}, ""},
		"calibrate": {
			[]string{
				"minhop: 0 of 70 entries differ", "unknown whether what-ifs predict",
				"not read: 1 forwarding table: leaf-04",
			}, "",
		},
		"diff":                  {[]string{"as far as was read", "pairs not known           26"}, ""},
		"diff traces base live": {[]string{"26 paths unknown, as tables were not read"}, ""},
		"diff traces base live node-0001 node-0003": {[]string{"0 of 1 path changed"}, ""},
		"paths verify": {[]string{"0 differ", "unknown: over tables that were not read"},
			"are unknown"},
		"paths verify strict=no": {nil, ""},
		"paths query node-0001 node-0007": {
			[]string{"paths over 1 switch have no records, as their forwarding tables were not read: leaf-04"},
			"it is unknown whether there is a path",
		},
		"paths build " + filepath.Join(t.TempDir(), "paths"): {
			[]string{"paths over 1 switch have no records, as their forwarding tables were not read: leaf-04"}, "",
		},
		"paths acm " + filepath.Join(t.TempDir(), "acm"): {
			[]string{"paths over 1 switch have no records, as their forwarding tables were not read: leaf-04"}, "",
		},
		"paths digest":                {nil, "the service levels of paths were not read"},
		"paths connections live base": {[]string{"0 lost"}, ""},
		"paths alternate node-0001 node-0007": {
			[]string{"unknown: the table of leaf-04 was not read"}, "",
		},
		"trace node-0001 node-0007": {[]string{"unknown: the table of leaf-04 was not read"},
			"unknown: the table of leaf-04 was not read"},
		"trace node-0001 node-0007 strict=no": {nil, ""},
		// Of 7 other hosts 2 are on that leaf.
		"trace node-0001 all": {[]string{"5 arrive", "0 do not, 0 pairs lost; 2 unknown, 2 pairs"},
			"2 of 7 paths are unknown"},
		"trace all all": {[]string{"30 arrive", "0 do not, 0 pairs lost; 26 unknown, 26 pairs"},
			"26 of 56 paths are unknown"},
		"trace all all strict=no":                            {nil, ""},
		"resilience links":                                   {nil, "are incomplete"},
		"handover " + filepath.Join(t.TempDir(), "handover"): {[]string{"26 of 56 paths are unknown"}, ""},
		"show lft leaf-04":                                   {nil, "the table of leaf-04 is unknown"},
		"problems": {
			[]string{
				"table not read     the forwarding table of leaf-04 was not read", "not checked: some paths: 26 paths",
			}, "",
		},
	} {
		out, err := on(t, source, command)
		for _, want := range tc.wants {
			if !strings.Contains(out, want) {
				t.Errorf("%s: no %q in\n%s", command, want, out)
			}
		}
		if failed := err != nil; failed != (tc.fails != "") || failed && !strings.Contains(err.Error(), tc.fails) {
			t.Errorf("%s: %v, want %q\n%s", command, err, tc.fails, out)
		}
	}
}

// TestMulticastTableNotRead: of a folder whose multicast tables lack one switch, that table is not read, and none
// without entries. A folder that is written has a section for each switch, also for switches that no tree passes.
func TestMulticastTableNotRead(t *testing.T) {
	groups, whole, all := filepath.Join(t.TempDir(), "groups"), filepath.Join(t.TempDir(), "whole"),
		filepath.Join(t.TempDir(), "all")
	const header = "MC Group 0xc001 : mgid=0xff12000000000000:0x1000\n"
	member := func(guid int) string { return fmt.Sprintf("mcm_port: port_gid=0xfe80000000000000:0x%016x\n", guid) }
	// on the first and the last leaf
	if err := os.WriteFile(groups, []byte(header+member(0x100001)+member(0x10000d)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := on(t, "sim:fattree:2,4", "load groups "+groups, "route", "dump snapshot "+all, "dump ibdiagnet "+
		whole); err != nil {
		t.Fatal(err, out)
	}
	part := filepath.Join(t.TempDir(), "part")
	if err := os.CopyFS(part, os.DirFS(whole)); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(part, "ibdiagnet2.mcfdbs")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const head = "\nSwitch "
	sections := strings.Split(string(text), head)
	left := slices.DeleteFunc(slices.Clone(sections), func(s string) bool { return strings.HasPrefix(s, leaf4) })
	if len(sections) != 7 || len(left) != 6 {
		t.Fatalf("%d sections of 6 switches, %d without that of one", len(sections)-1, len(left)-1)
	}
	if err := os.WriteFile(file, []byte(strings.Join(left, head)), 0o600); err != nil {
		t.Fatal(err)
	}
	snapshot := filepath.Join(t.TempDir(), "snapshot")
	if out, err := on(t, "ibdiagnet:"+part, "dump snapshot "+snapshot); err != nil {
		t.Fatal(err, out)
	}
	for _, source := range []string{"ibdiagnet:" + part, "file:" + snapshot} {
		for command, want := range map[string]string{
			"show mft leaf-04": "the multicast table of leaf-04 was not read",
			"check mcast":      "unknown",
			"load snapshot " + all + "; diff live base": "1 switch not compared, as a table was not read",
		} {
			out, err := on(t, source, strings.Split(command, "; ")...)
			if !strings.Contains(fmt.Sprint(out, err), want) {
				t.Errorf("%s: %s: no %q: %v\n%s", source, command, want, err, out)
			}
		}
	}
	for _, command := range []string{"show mft leaf-04", "check mcast"} {
		if out, err := on(t, "ibdiagnet:"+whole, command); err != nil && !strings.Contains(err.Error(), "VLs") {
			t.Errorf("%s of the whole folder: %v\n%s", command, err, out)
		}
	}
}

// TestCommandsOnTables names the commands that read tables: for a new one, a test shows how it takes tables that were
// not read, in [TestTablesNotRead], or a comment explains why it needs not.
func TestCommandsOnTables(t *testing.T) {
	want := []string{
		"adaptive show", // lists groups of ports as they were read
		"balance hot", "balance lid", "balance switch",
		"check", "check credits", "check load", "check load measured", "check loops", "check mcast", "check reach",
		"compare engines", "diff", "diff traces",
		"handover", "hosts", "paths acm", "paths alternate", "paths build", "paths connections", "paths digest",
		"paths query", "paths verify",
		"report csv", "report dot", "report html", "report json", "report markdown", "report svg", "report text",
		"resilience links", "resilience pairs", "resilience sbatch", "resilience switches",
		"show lft", "trace", "who uses",
	}
	// These write or list what is there, or do not look at forwarding tables.
	others := []string{"check cabling", "check partitions", "dump", "problems", "show", "summary", "report slurm-conf",
		"report slurm-yaml", "report morning", "inventory", "load history"} // load history: as load routing
	var walk func(specs []shell.Spec, before string, of bool)
	var got []string
	walk = func(specs []shell.Spec, before string, of bool) {
		for _, s := range specs {
			name, of := strings.TrimSpace(before+" "+s.Name), of ||
				slices.ContainsFunc(s.Options, func(o lang.Option) bool {
					return o.Name == "of"
				})
			of = of || slices.ContainsFunc(s.Args, func(a lang.Arg) bool { return a.Kind == lang.KindPicture })
			if of && (len(s.Subcommands) == 0 || s.Bare) {
				got = append(got, name)
			}
			walk(s.Subcommands, name, of)
		}
	}
	walk(shell.New(nil).Specs(), "", false)
	got = append(got, "compare engines", "diff") // they have subcommands or names of engines, too
	for _, name := range got {
		if first, _, _ := strings.Cut(name, " "); !slices.Contains(want, name) && !slices.Contains(others, name) &&
			!slices.Contains(others, first) {
			t.Errorf("%q reads tables, and no test shows how it takes unread tables", name)
		}
	}
	for _, name := range want {
		if !slices.Contains(got, name) {
			t.Errorf("%q is no command that reads tables", name)
		}
	}
}

// TestDiffSaysWhatItCompared: of two folders of one subnet whose ports have counted otherwise, diff finds no difference
// in what it compares, and names the counters among what it does not.
func TestDiffSaysWhatItCompared(t *testing.T) {
	one := filepath.Join(t.TempDir(), "one")
	if out, err := on(t, "sim:fattree:2,4 traffic=50%", "show counters", "show counters", "dump ibdiagnet "+
		one); err != nil {
		t.Fatal(err, out)
	}
	two := filepath.Join(t.TempDir(), "two")
	if err := os.CopyFS(two, os.DirFS(one)); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(two, "ibdiagnet2.db_csv")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const column, section = "SymbolErrorCounter,", "START_PM_INFO\nNodeGUID,PortGUID,PortNumber,"
	at := strings.Index(string(text), section)
	if at < 0 {
		t.Fatalf("no %q in\n%s", section, text)
	}
	lines := strings.SplitN(string(text)[at:], "\n", 4)
	nth := strings.Count(lines[1][:strings.Index(lines[1], column)], ",")
	cells := strings.Split(lines[2], ",")
	if cells[nth] == "77" {
		t.Fatal("the counter is the same")
	}
	cells[nth] = "77"
	lines[2] = strings.Join(cells, ",")
	if err := os.WriteFile(file, []byte(string(text)[:at]+strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := on(t, "ibdiagnet:"+two, "show counters"); err != nil ||
		!strings.Contains(out, "SymbolErrorCounter 77") {
		t.Fatal(err, out)
	}
	out, err := on(t, "ibdiagnet:"+one, "load topology "+two, "diff live whatif")
	for _, want := range []string{"no difference in links, end ports, LIDs, forwarding tables, paths",
		"\nnot compared ", "counters", "cables", "temperatures"} {
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("no %q: %v\n%s", want, err, out)
		}
	}
}
