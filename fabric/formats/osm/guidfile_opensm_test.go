// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// guidFileParts holds for each kind of file the engine that reads it, OpenSM's function for a line, and OpenSM's error
// for an invalid file.
var guidFileParts = map[GUIDFileKind]struct{ engine, line, broken string }{
	RootGUIDs:    {"updn", "rank_root_node", "ERR AA02"},
	SwitchIDs:    {"updn", "update_id", "ERR AA03"},
	RoutingOrder: {"minhop", "add_guid_to_order_list", "ERR 3A0D"},
	IgnoredPorts: {"minhop", "mark_ignored_port", "ERR 3A0E"},
	HopWeights:   {"minhop", "set_hop_wf", "ERR 3A05"},
	SearchOrder:  {"minhop", "set_search_ordering_ports", "ERR 3A0F"},
}

// TestGUIDFilesAsOpenSM compares the lines of random files that we use or skip with those in OpenSM's log.
func TestGUIDFilesAsOpenSM(t *testing.T) {
	f, err := gen.ParseSpec("fattree:2,6")
	if err != nil {
		t.Fatal(err)
	}
	s := ibsimtest.Start(t, netFile(t, f))
	rnd := testenv.Rand(t)
	for i := range testenv.Count(t, 8, 200) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			files := map[GUIDFileKind][]byte{}
			for kind := range guidFileParts {
				files[kind] = randomGUIDFile(rnd, f)
			}
			for _, engine := range []string{"updn", "minhop"} {
				compareGUIDFiles(t, s, f, engine, files)
			}
		})
	}
}

func randomGUIDFile(rnd *rand.Rand, f *fabric.Fabric) []byte {
	var b bytes.Buffer
	pick := func(of ...string) string { return of[rnd.IntN(len(of))] }
	unusual := rnd.IntN(2) == 0
	for range rnd.IntN(25) {
		guid := f.SwitchNode(fabric.SwitchIndex(rnd.IntN(len(f.Switches)))).GUID
		switch rnd.IntN(8) {
		case 0:
			guid = f.Ports[f.EndPorts[rnd.IntN(len(f.EndPorts))]].GUID
		case 1:
			guid = f.Nodes[rnd.IntN(len(f.Nodes))].GUID
		case 2:
			guid = rnd.Uint64()
		}
		text := pick("0x%016x", "0x%x", "0X%X", "%d")
		rest := pick(" 1 2", "\t3 4 5", " 2 1 # two", " 1", " 6", "", " 5 300", " 3 1\r", " 2  9",
			" 01 0x3 2", " 0x7 7")
		if unusual {
			rest = pick(rest, " x", " 7", " 0", " 1 1", " 1,2", " 1x2", " 257 5", " -1 2", " 1 0", " 2 x", " 9 9",
				"#1 2", " 4294967297 1", " 3#5", " 2 256", " 1 2 3 4 5 6 7")
		}
		fmt.Fprintf(&b, text+"%s\n", guid, rest)
		switch {
		case unusual && rnd.IntN(40) == 0:
			b.WriteString(pick("junk\n", "0x\n", "0002c9 1\n", "# "+strings.Repeat("long ", 70)+"\n", "0x12z 1\n",
				"1\x002\n"))
		case rnd.IntN(6) == 0:
			b.WriteString(pick("\n", "# comment\n", "  \t\n", " # 0x1\n"))
		}
	}
	return b.Bytes()
}

var (
	logLine   = regexp.MustCompile(`-> (\w+): (.*)`)
	loggedHex = regexp.MustCompile(`0x([0-9a-f]+)`)
)

// loggedGUIDs returns the GUIDs of a function's log messages that match, in order.
func loggedGUIDs(t *testing.T, log, function, match string) []uint64 {
	t.Helper()
	var all []uint64
	for _, m := range logLine.FindAllStringSubmatch(log, -1) {
		if m[1] != function || !regexp.MustCompile(match).MatchString(m[2]) {
			continue
		}
		guid, err := strconv.ParseUint(loggedHex.FindStringSubmatch(m[2])[1], 16, 64)
		if err != nil {
			t.Fatalf("log: %q: %v", m[2], err)
		}
		all = append(all, guid)
	}
	return all
}

func compareGUIDFiles(t *testing.T, s *ibsimtest.Sim, f *fabric.Fabric, engine string, files map[GUIDFileKind][]byte) {
	t.Helper()
	folder := t.TempDir()
	var conf strings.Builder
	for kind, text := range files {
		name := filepath.Join(folder, kind.Option())
		writeFile(t, name, text)
		fmt.Fprintf(&conf, "%s %s\n", kind.Option(), name)
	}
	name := filepath.Join(folder, "opensm.conf")
	writeFile(t, name, []byte(conf.String()))
	dir := ibsimtest.OpenSM(t, s, "-F", name, "-R", engine, "-D", "0x4f")
	log := string(dump(t, dir, "opensm.log"))
	for kind, part := range guidFileParts {
		if part.engine != engine {
			continue
		}
		file, err := ReadGUIDFile(bytes.NewReader(files[kind]), kind.Option())
		if err != nil {
			t.Fatal(err)
		}
		used, skipped, stops := useOf(file, f, kind)
		if got := strings.Contains(log, part.broken); got != (file.Broken || stops) {
			t.Errorf("%s: OpenSM stops reading: %v, we do: %v, %v, of\n%q\n%s", kind.Option(), got, file.Broken, stops,
				files[kind], file.Notes)
		}
		got := loggedGUIDs(t, log, part.line, "not found|bad port|bad hop|already|multiple")
		if !slices.Equal(got, skipped) {
			t.Errorf("%s: OpenSM skips %x, we skip %x, of\n%q", kind.Option(), got, skipped, files[kind])
		}
		if kind != RootGUIDs && kind != SwitchIDs {
			continue // OpenSM does not log which of the others it uses
		}
		if got := loggedGUIDs(t, log, part.line, "Ranking root|update node"); !slices.Equal(got, used) {
			t.Errorf("%s: OpenSM uses %x, we use %x, of\n%q", kind.Option(), got, used, files[kind])
		}
	}
	ids, _ := mustRead(t, files[SwitchIDs]).IDs(isSwitchOf(f))
	for _, m := range regexp.MustCompile(`update node 0x([0-9a-f]+) id to 0x([0-9a-f]+)`).FindAllStringSubmatch(log,
		-1) {
		guid, _ := strconv.ParseUint(m[1], 16, 64)
		id, _ := strconv.ParseUint(m[2], 16, 64)
		if last := strings.LastIndex(log, "update node 0x"+m[1]+" id"); strings.Index(log, m[0]+"\n") == last &&
			ids[guid] != id {
			t.Errorf("the number of 0x%x is 0x%x in OpenSM, 0x%x in ours", guid, id, ids[guid])
		}
	}
}

func mustRead(t *testing.T, text []byte) *GUIDFile {
	t.Helper()
	f, err := ReadGUIDFile(bytes.NewReader(text), "file")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func isSwitchOf(f *fabric.Fabric) func(uint64) bool {
	return func(guid uint64) bool { return f.SwitchByGUID(guid) != fabric.None }
}

// useOf returns the GUIDs of the lines of a file that are used and skipped, in order, and whether an invalid number
// stops the reading.
func useOf(file *GUIDFile, f *fabric.Fabric, kind GUIDFileKind) (used, skipped []uint64, stops bool) {
	unused := map[int]bool{}
	for _, n := range file.Check(f, kind) {
		unused[n.Line] = true
	}
	var notes []FileNote
	last := len(file.Lines)
	switch kind {
	case SwitchIDs:
		if _, stop := file.IDs(isSwitchOf(f)); stop != nil {
			stops = true
			last = slices.IndexFunc(file.Lines, func(l GUIDLine) bool { return l.Line == stop.Line })
		}
	case IgnoredPorts:
		_, notes = file.Ports()
	case HopWeights:
		_, notes = file.Weights()
	case SearchOrder:
		_, notes = file.Orders()
	}
	for _, n := range notes {
		unused[n.Line] = true
	}
	for _, l := range file.Lines[:last] {
		if unused[l.Line] {
			skipped = append(skipped, l.GUID)
		} else {
			used = append(used, l.GUID)
		}
	}
	return used, skipped, stops
}

// TestHostGUIDFilesAsOpenSM compares the errors that OpenSM logs: those of the engines for invalid files of compute and
// I/O nodes, and those of updn and ftree for roots that do not exist.
func TestHostGUIDFilesAsOpenSM(t *testing.T) {
	f, err := gen.ParseSpec("fattree:2,6")
	if err != nil {
		t.Fatal(err)
	}
	s := ibsimtest.Start(t, netFile(t, f))
	for _, tc := range []struct {
		kind         GUIDFileKind
		engine, text string
		logged       string
	}{
		{ComputeNodes, "ftree", "0x100001\njunk\n0x100003\n", "ERR AB23"},
		{ComputeNodes, "ftree", "# none\n", "ERR AB27"},
		{ComputeNodes, "dfsssp", "0x100001\n0x\n", "ERR AD33"},
		{IONodes, "ftree", "0x100001x\n", "ERR AB28"},
		{IONodes, "ftree", "\n", "ERR AB29"},
		{IONodes, "sssp", "zero\n", "ERR AD35"},
		{RootGUIDs, "ftree", "0x200006\njunk\n", "ERR AB2A"},
		{RootGUIDs, "ftree", "0x100001\n", "ERR AB25"},
		{RootGUIDs, "updn", "0x100001\n", "no root nodes were found"},
	} {
		t.Run(tc.kind.Option()+"-"+tc.logged, func(t *testing.T) {
			folder := t.TempDir()
			list, conf := filepath.Join(folder, "list"), filepath.Join(folder, "conf")
			writeFile(t, list, []byte(tc.text))
			writeFile(t, conf, fmt.Appendf(nil, "%s %s\n", tc.kind.Option(), list))
			log := dump(t, ibsimtest.OpenSM(t, s, "-F", conf, "-R", tc.engine), "opensm.log")
			if !bytes.Contains(log, []byte(tc.logged)) {
				t.Errorf("OpenSM does not log %q:\n%s", tc.logged, log)
			}
			file := mustRead(t, []byte(tc.text))
			unused := len(file.Check(f, tc.kind)) == len(file.Lines)
			switch {
			case file.Broken && !strings.Contains(tc.kind.AfterBroken(), strings.TrimPrefix(tc.logged, "ERR ")):
				t.Errorf("a broken file: %q, expected %s in it", tc.kind.AfterBroken(), tc.logged)
			case !file.Broken && !unused:
				t.Error("the file has an effect")
			}
		})
	}
}
