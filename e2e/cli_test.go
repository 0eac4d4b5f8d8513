// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// write writes a file and returns its name.
func write(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// pair returns a host and a switch as text, with replacements.
func pair(replace ...string) string {
	const text = "vendid=0x2c9\nSwitch\t8 \"S-0000000000200000\"\t\t# \"sw1\" base port 0 lid 2 lmc " +
		"0\n[3]\t\"H-0000000000100000\"[1](100001) \t\t# \"node1\" lid 1 4xQDR\n\nCa\t1 \"H-0000000000100000\"\t\t# " +
		"\"node1\"\n[1](100001) \t\"S-0000000000200000\"[3]\t\t# lid 1 lmc 0 \"sw1\" lid 2 4xQDR\n"
	return strings.NewReplacer(replace...).Replace(text)
}

func TestBadFiles(t *testing.T) {
	if r := try("-s", "file:"+write(t, pair()), "-c", "route"); r.status != exitDone {
		t.Fatalf("the good file: exit status %d, %s", r.status, r.err)
	}
	for name, tc := range map[string]struct{ text, want string }{
		"empty":                   {"", "empty"},
		"binary":                  {"\x7fELF\x02\x01\x00\x00", "binary"},
		"truncated":               {pair()[:150], ":5:"},
		"port 300":                {pair("[3]\t\"H", "[300]\t\"H"), ":3:"},
		"port above NumPorts":     {pair("[3]", "[9]"), ":3:"},
		"LID 65335":               {pair("lid 2 lmc 0\n", "lid 65335 lmc 0\n"), ":2:"},
		"one LID twice":           {pair("lid 2 lmc 0\n", "lid 1 lmc 0\n"), "LID 1"},
		"one side of a link":      {pair("[1](100001) \t\"S-0000000000200000\"[3]", "#"), ":3:"},
		"sides that disagree":     {pair("200000\"[3]", "200000\"[4]"), ":3:"},
		"a node twice":            {pair() + "\n" + pair(), ":9:"},
		"a node that is not here": {pair("\"H-0000000000100000\"[1]", "\"H-0000000000100009\"[1]"), ":3:"},
	} {
		t.Run(name, func(t *testing.T) {
			file := write(t, tc.text)
			out := filepath.Join(t.TempDir(), "out")
			r := try("--strict", "-s", "file:"+file, "-c", "route; dump lfts "+out)
			oneLine(t, r, exitFailed, file, tc.want)
			if _, err := os.Stat(out); err == nil {
				t.Error("something was dumped")
			}
		})
	}
}

// oneLine checks that a run failed with one line that contains these words.
func oneLine(t *testing.T, r result, status int, words ...string) {
	t.Helper()
	if r.status != status {
		t.Errorf("exit status %d, want %d", r.status, status)
	}
	if strings.Count(r.err, "\n") != 1 || !strings.HasPrefix(r.err, "ibconsole: ") &&
		!strings.HasPrefix(r.err, `{"kind":"error",`) {
		t.Errorf("not one line that starts with the program's name, or one object: %q", r.err)
	}
	for _, w := range words {
		if !strings.Contains(r.err, w) {
			t.Errorf("%q does not mention %q", r.err, w)
		}
	}
}

func TestBadCommands(t *testing.T) {
	const sim = "sim:fattree:2,4"
	routes := write(t, "Unicast lids [0-3] of switch Lid 2 guid 0x0000000000200000 ('x'):\n0x0001 300 # y\n1 lids "+
		"dumped\n")
	for _, tc := range []struct {
		script string
		status int
		words  []string
	}{
		{"rout", exitUsage, []string{`"rout"`, `"route"`}},
		{"trace leaf-01", exitUsage, []string{"DST is missing"}},
		{"trace leaf-01 ''", exitUsage, []string{"DST", "is empty"}},
		{"fail switch ''", exitUsage, []string{"SWITCH is empty"}},
		{"load lfts ''", exitUsage, []string{"FILE is empty"}},
		{"trace leaf-01 leaf-02 form=x", exitUsage, []string{`"form"`, `"format"`}},
		{"dump lft x", exitUsage, []string{`"lfts"`}},
		{"engine 'no", exitUsage, []string{"-c:1", "never closed"}},
		{"fail link leaf-01", exitUsage, []string{"which port"}},
		{"record start web=x", exitUsage, []string{"web= needs metrics="}},
		{"record start insecure", exitUsage, []string{"insecure needs metrics="}},
		{"engine nope", exitFailed, []string{"engine: ", `"nope"`, "minhop"}},
		{"trace leaf-01 nobody", exitFailed, []string{"trace: ", `"nobody"`}},
		{"trace leaf spine-01", exitFailed, []string{"ambiguous", "leaf-01", "leaf-02"}},
		{"fail link leaf-01 9", exitFailed, []string{"fail link: ", "no port 9"}},
		{"fail switch node-0001", exitFailed, []string{"is not a switch"}},
		{"restore all", exitFailed, []string{"nothing has failed"}},
		{"load lfts /does/not/exist", exitFailed, []string{"/does/not/exist"}},
		{"load lfts " + routes, exitFailed, []string{routes + ":2:", "300"}},
		{"dump lfts /does/not/exist", exitFailed, []string{"/does/not/exist", "no such file"}},
		{"diff live staged", exitFailed, []string{"nothing is staged"}},
		{"commit yes", exitFailed, []string{"nothing is staged"}},
		{"capture -", exitUsage, []string{"cannot go to standard output", "capture FILE|off"}},
		{"trace node-0001 all format=ibtracer", exitUsage, []string{"ibtracert"}},
		{"trace all all rows format=ibtracert", exitUsage, []string{"rows"}},
		{"set sm leaf-01", exitFailed, []string{"only be set for a subnet from a file"}},
		{"show lft node-0001", exitFailed, []string{"is not a switch"}},
	} {
		t.Run(tc.script, func(t *testing.T) { oneLine(t, try("-s", sim, "-c", tc.script), tc.status, tc.words...) })
	}
	if r := try("-s", sim, "-c", "gen torus 3x3 "+filepath.Join(t.TempDir(), "x")+"; rout"); r.status != exitUsage ||
		r.out != "" {
		t.Errorf("a script with an unknown command ran its beginning: %q", r.out)
	}
}

// TestWordsOfTheShell checks words of the command line that another parser could read as flags or options.
func TestWordsOfTheShell(t *testing.T) {
	const a, b = "sim:fattree:2,4", "b=sim:fattree:2,6"
	want := try("-s", a, "-s", b, "-o", "csv", "-c", "on b trace node-0001 node-0018 of=live back")
	got := try("-s", a, "-s", b, "on", "b", "trace", "node-0001", "node-0018", "--of", "live", "--back", "-o", "csv")
	if got != want || want.status != exitDone || want.out == "" {
		t.Errorf("flags after on SUBNET: %+v, want %+v", got, want)
	}
	script := write(t, "show nodes\n")
	got = try("-s", a, "-s", b, "on", "b", "run", script)
	if want = try("-s", a, "-s", b, "-c", "on b run "+script); got != want || want.out == "" {
		t.Errorf("run after on SUBNET: %+v, want %+v", got, want)
	}
	oneLine(t, try("-s", a, "-s", b, "on", "", "show", "nodes"), exitUsage, `unknown subnet ""`)
	for _, flag := range []string{"mkeys", "table", "output", "fail-on"} {
		oneLine(t, try("-s", a, "-o", "csv", "--"+flag, "", "show", "nodes"), exitUsage, "--"+flag+" is empty")
	}
	oneLine(t, try("-s", a, "--window", "x", "show", "nodes"), exitUsage, `--window is "x", expected a whole number`)
	oneLine(t, try("-s", a, "show", "nodes", "--", "of=live"), exitFailed, `no node is called "of=live"`)
	oneLine(t, try("-s", a, "show", "nodes", "--", "-1"), exitFailed, `no node is called "-1"`)
	oneLine(t, try("-s", a, "show", "nodes", "-1"), exitUsage, "-1", "hint: write -- before")
	oneLine(t, try("-s", a, "show", "nodes", "--off=live"), exitUsage, "show nodes", `"--of"`)
	oneLine(t, try("-s", a, "-s", b, "write", "on"), exitUsage, "'on fattree:2,4 write on'")
}

// TestErrorObjects checks the keys of errors before the first command runs.
func TestErrorObjects(t *testing.T) {
	const show = "show nodes; "
	for _, tc := range []struct{ script, command, cause string }{
		{show + "\nrout", "", "unknown command"}, {show + "\n'x", "", "quote"},
		{show + "\nshow nodes form=x", "show nodes", "unknown option"}, {"\nproblems of=x", "problems", "of: "},
	} {
		r := try("-s", "sim:fattree:2,4", "--json", "-c", tc.script)
		var got struct {
			Command, Cause, Script string
			Line, Status           int
		}
		if err := json.Unmarshal([]byte(r.err), &got); err != nil {
			t.Fatalf("%s: %v", r.err, err)
		}
		if got.Command != tc.command || !strings.HasPrefix(got.Cause, tc.cause) || got.Script != "-c" ||
			got.Line != 2 || got.Status != exitUsage || r.status != exitUsage {
			t.Errorf("%q: status %d, %+v", tc.script, r.status, got)
		}
	}
}

// TestOptionForms checks that options may be written with two dashes, with -c and as words of the command line, and
// that old names still work.
func TestOptionForms(t *testing.T) {
	const sim = "sim:fattree:2,4"
	for _, group := range [][][]string{
		{
			{"trace", "node-0001", "node-0008", "of=live", "back", "strict=no"},
			{"trace", "node-0001", "node-0008", "--of=live", "--back", "--strict=no"},
			{"trace", "--back=yes", "--of", "live", "node-0001", "node-0008", "--strict"},
			{"-c", "trace node-0001 node-0008 of=live back"}, {"-c", "trace node-0001 node-0008 --of=live --back"},
			{"-c", "trace --back=yes node-0001 node-0008 --of=live --strict"},
		},
		{{"record", "status"}, {"-c", "record status"}},
		{{"show", "unanswered"}, {"show", "holes"}, {"-c", "show holes"}},
	} {
		want := try(append([]string{"-s", sim}, group[0]...)...)
		if want.status != exitDone || want.out == "" {
			t.Errorf("%q: %+v", group[0], want)
		}
		for _, words := range group[1:] {
			if got := try(append([]string{"-s", sim}, words...)...); untimed(got) != untimed(want) {
				t.Errorf("%q: %+v, want %+v", words, got, want)
			}
		}
	}
}

func TestBadArguments(t *testing.T) {
	for _, args := range [][]string{
		{"-x"}, {"nonsense"}, {"-s", "nonsense"}, {"-s", "file:"}, {"-s", "net:"}, {"run"}, {"version", "1"},
		{"-c", "help", "shell"},
	} {
		oneLine(t, try(args...), exitUsage)
	}
	for _, window := range []string{"0", "-1", "4097"} {
		oneLine(t, try("--window", window, "-c", "summary"), exitUsage, "--window "+window, "expected 1 to 4096")
	}
	oneLine(t, try("run", "/does/not/exist"), exitFailed, "/does/not/exist")
	oneLine(t, try("-s", "sim:fattree:2,4", "record", "sttus"), exitUsage, `"sttus"`)
	oneLine(t, try("-s", "sim:fattree:2,4", "doctor", "verfy"), exitUsage, `"verfy"`)
	oneLine(t, try("-s", "ibsim:nobody-is-here"), exitFailed, "nobody-is-here")
}

// TestJSON checks that every line of the commands that print results is an object, and the keys of route that scripts
// need.
func TestJSON(t *testing.T) {
	out := ibconsole(t, "--json", "-s", "sim:fattree:2,4", "-c",
		"sweep; engines; engine; fail link leaf-01 3; whatif; route; show nodes; show switches; show links; show "+
			"ports leaf-01; "+
			"show lft leaf-01; show sms; show holes; trace node-0001 node-0008; trace node-0001 node-0008 "+
			"format=ibtracert; trace node-0001 all; help; help trace; diff; diff entries; commit dry-run; restore "+
			"all; write on; summary of=live")
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	routed := 0
	for _, line := range lines {
		var object map[string]any
		if err := json.Unmarshal([]byte(line), &object); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		for name, value := range object {
			if value == nil {
				t.Errorf("%s is null in %s", name, line)
			}
		}
		if object["engine"] == "minhop" && object["entries"] != nil {
			routed++
			// 6 switches with 14 LIDs each; the seconds are those of the engine.
			if object["entries"] != 84.0 || object["seconds"].(float64) <= 0 || object["changed"].(float64) <= 0 {
				t.Errorf("route says %v", object)
			}
		}
	}
	if routed != 1 || len(lines) < 60 {
		t.Errorf("%d of %d lines are those of route", routed, len(lines))
	}
}

// TestHostileDescriptions checks that control characters in node descriptions do not reach the terminal.
func TestHostileDescriptions(t *testing.T) {
	for _, hostile := range []string{"\x1b[2J\x1b]0;owned\x07", "a\rb\tc", "\xff\xfe\x80", "\u202etxt.exe",
		"\u009b31m"} {
		file := write(t, pair("\"sw1\"", "\""+hostile+"\""))
		r := try("-s", "file:"+file, "-c", "route; summary; show nodes; show links; show ports lid:2; show lft "+
			"lid:2; trace lid:1 lid:2; "+
			"trace lid:1 lid:2 format=ibtracert; fail switch lid:2; whatif; diff base staged")
		if r.status != exitDone {
			t.Errorf("%q: exit status %d, %s", hostile, r.status, r.err)
		}
		for _, text := range []string{r.out, r.err} {
			if !utf8.ValidString(text) || strings.ContainsAny(text, "\x1b\x07\r\t\u202e\u009b") {
				t.Errorf("%q reaches the terminal: %q", hostile, text)
			}
		}
	}
}

func same(t *testing.T, a, b string) {
	t.Helper()
	x, err := os.ReadFile(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := os.ReadFile(b)
	if err != nil {
		t.Fatal(err)
	}
	if string(x) != string(y) || len(x) == 0 {
		t.Errorf("%s (%d bytes) and %s (%d bytes) differ", filepath.Base(a), len(x), filepath.Base(b), len(y))
	}
}

// TestLoadFDBsOfIbdiagnet changes our dump to the form of ibdiagnet, with another heading and without hops. It must
// load and compare like ours.
func TestLoadFDBsOfIbdiagnet(t *testing.T) {
	const sim = "sim:torus:4x3"
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	ibconsole(t, "-s", sim, "-c", "fail link sw-0-0 1; route; dump lfts "+at("first")+"; dump fdbs "+at("ours"))
	text := "# made by hand\n" + strings.ReplaceAll(read(t, at("ours")), "dump_ucast_routes:",
		"osm_ucast_mgr_dump_ucast_routes:")
	text = regexp.MustCompile(`(?m) : [0-9]{2}   : .*$`).ReplaceAllString(text, " : 00   : yes")
	if !strings.Contains(text, " : 00   : yes\n") || strings.Contains(text, " : 02 ") {
		t.Fatal(text)
	}
	if err := os.WriteFile(at("ibdiagnet.fdbs"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ibconsole(t, "-s", sim, "-c", "load fdbs "+at("ibdiagnet.fdbs")+"; dump lfts "+at("second"))
	same(t, at("first"), at("second"))
	compared := func(name string) string {
		_, figures, _ := strings.Cut(ibconsole(t, "--json", "-s", sim, "-c", "compare engines minhop with="+at(name)),
			name+`"`)
		figures, _, _ = strings.Cut(figures, "\n")
		return figures
	}
	if ours, theirs := compared("ours"), compared("ibdiagnet.fdbs"); ours == "" || ours != theirs {
		t.Errorf("ours: %s\ntheirs: %s", ours, theirs)
	}
	if r := try("-s", "file:"+at("ibdiagnet.fdbs"), "-c", "summary"); r.status != exitFailed ||
		!strings.Contains(r.err, "forwarding tables (opensm.fdbs)") {
		t.Errorf("as a subnet: %s", r.err)
	}
}

// TestIbsimGoesAway checks the error of a script whose ibsim ends.
func TestIbsimGoesAway(t *testing.T) {
	file := filepath.Join(t.TempDir(), "net")
	ibconsole(t, "-c", "gen torus 3x3 "+file)
	sim := ibsimtest.Start(t, file)
	sim.Stop()
	oneLine(t, try("-s", "ibsim:"+sim.Name, "-c", "sweep"), exitFailed, sim.Name)
}

// TestCalibrateFindsChangedEntries changes one entry of a dump.
func TestCalibrateFindsChangedEntries(t *testing.T) {
	lfts := filepath.Join(t.TempDir(), "lfts")
	ibconsole(t, "-s", "sim:fattree:2,4", "-c", "route; dump lfts "+lfts)
	text, err := os.ReadFile(lfts)
	if err != nil {
		t.Fatal(err)
	}
	// The first table is that of a leaf: its host ports are 1 and 2, spines are on ports 3 and 4.
	changed := strings.Replace(string(text), " 003 # ", " 004 # ", 1)
	if changed == string(text) {
		t.Fatal("no entry to change")
	}
	out := ibconsole(t, "--json", "-s", "sim:fattree:2,4", "-c", "load lfts "+write(t, changed)+
		"; write on; commit yes; calibrate; fail switch spine-02; route; diff")
	if !strings.Contains(out, `"differ":1,`) || !strings.Contains(out, `"another neighbour":1`) ||
		!strings.Contains(out, "an estimate") {
		t.Errorf("one changed entry: %s", out)
	}
}

// TestCommitThatCutsPairs commits a file with the table of one leaf, which changes no other switch, and one without an
// entry, with which pairs lose their path.
func TestCommitThatCutsPairs(t *testing.T) {
	const sim = "sim:fattree:2,4"
	lfts := filepath.Join(t.TempDir(), "lfts")
	ibconsole(t, "-s", sim, "-c", "route; dump lfts "+lfts)
	text, err := os.ReadFile(lfts)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, "0x") && strings.Contains(l, "node-0008") {
			lines[i] = ""
			break
		}
	}
	script := "load lfts " + write(t, strings.Join(lines, "")) + "; write on; "
	r := try("-s", sim, "-c", script+"commit yes")
	if r.status != exitFailed || !strings.Contains(r.err, "'commit yes force-unreachable'") ||
		!strings.Contains(r.out, "PAIRS LOST") || strings.Contains(r.out, "written in") {
		t.Errorf("exit status %d\n%s%s", r.status, r.out, r.err)
	}
	if out := ibconsole(t, "-s", sim, "-c", script+"commit yes force-unreachable"); !strings.Contains(out,
		"written in") {
		t.Errorf("with force-unreachable: %s", out)
	}
	const fail = "fail switch leaf-04; route; write on; "
	r = try("-s", sim, "-c", fail+"commit yes")
	if r.status != exitFailed || !strings.Contains(r.err, "'commit yes force-unreachable'") ||
		!strings.Contains(r.out, "PAIRS LOST") || strings.Contains(r.out, "written in") {
		t.Errorf("a simulated leaf failure makes its hosts unreachable: exit status %d\n%s%s", r.status, r.out, r.err)
	}
	if out := ibconsole(t, "-s", sim, "-c", fail+"commit yes force-unreachable"); !strings.Contains(out, "written in") {
		t.Errorf("with force-unreachable: %s", out)
	}
}
