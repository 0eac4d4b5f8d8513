// SPDX-License-Identifier: Apache-2.0

package shell_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// dumpedFolder writes a folder of ibdiagnet of fattree:2,4 with the P_Keys, and changes its database.
func dumpedFolder(t *testing.T, change func(text string) string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "folder")
	if out, err := on(t, "sim:fattree:2,4", "sweep full pkeys; dump ibdiagnet "+folder); err != nil {
		t.Fatal(err, out)
	}
	db := filepath.Join(folder, "ibdiagnet2.db_csv")
	text, err := os.ReadFile(db)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(db, []byte(change(string(text))), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

func asDumped(text string) string { return text }

// The GUIDs of nodes and ports in fattree:2,4 begin with these digits.
var ownGUID = regexp.MustCompile(`\b0x0*([12])0`)

// ofOthers gives other GUIDs to all nodes and ports.
func ofOthers(text string) string { return ownGUID.ReplaceAllString(text, "0x77${1}0") }

// TestPartitionsOfFolder: P_Keys that a folder does not have are not read, and those of another subnet are an error.
func TestPartitionsOfFolder(t *testing.T) {
	file := writeFile(t, "p.conf", "Default=0x7fff, ipoib : ALL=full ;\n")
	folder := dumpedFolder(t, asDumped)
	for _, c := range []struct{ source, folder, want, failure string }{
		{"sim:fattree:2,4", folder, "0 differences", ""},
		// fattree:2,8 has 12 switches and 32 hosts, fattree:2,4 has 6 and 8 of these; fattree:2,2 has 3 and 2.
		{"sim:fattree:2,8", folder, "not read: 30 P_Key tables", "the P_Keys of 30 ports were not read"},
		{"sim:fattree:2,2", folder, "not compared: 9 ports of", ""},
		{"sim:fattree:2,4", dumpedFolder(t, ofOthers), "", "a folder of another subnet"},
	} {
		out, err := on(t, c.source, "check partitions "+file+" with="+c.folder)
		if !strings.Contains(out, c.want) || (err != nil) != (c.failure != "") ||
			err != nil && !strings.Contains(err.Error(), c.failure) {
			t.Errorf("%s: no %q: %v\n%s", c.source, c.want, err, out)
		}
	}
}

// TestPartialInventory counts the nodes that NODES_INFO does not have.
func TestPartialInventory(t *testing.T) {
	folder := dumpedFolder(t, func(text string) string {
		return text + "\nSTART_NODES_INFO\nNodeGUID,FWInfo_PSID,FWInfo_Extended_Major,FWInfo_Extended_Minor," +
			"FWInfo_Extended_SubMinor\n0x200000,MT_1,0x1b,0x7d8,0xe8\nEND_NODES_INFO\n"
	})
	out, err := on(t, "ibdiagnet:"+folder, "inventory; inventory leaf-01; inventory leaf-02")
	if err != nil || strings.Count(out, "not read: ") != 2 ||
		!strings.Contains(out, "not read: 13 firmware versions (not in the ibdiagnet folder)") ||
		!strings.Contains(out, "not read: 1 firmware version (not in the ibdiagnet folder): leaf-02") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestRevisionsOfFiles: a topology file states no hardware revisions, a simulated subnet has that of ibsim.
func TestRevisionsOfFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "net")
	simulated := regexp.MustCompile(`(?m)^switch .* 161 .* 6$`)
	for _, source := range []string{"sim:fattree:2,4", "file:" + file, "sim:" + file} {
		out, err := on(t, source, "inventory")
		if err != nil || simulated.MatchString(out) != (source != "file:"+file) {
			t.Errorf("%s: %v\n%s", source, err, out)
		}
		if source == "sim:fattree:2,4" {
			if _, err := on(t, source, "dump topology "+file); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestForeignHardware: the folder of hardware= must have a switch of the subnet, and a warning names what is not
// exported.
func TestForeignHardware(t *testing.T) {
	hardware := func(text string) string {
		return text + "\nSTART_FANS_SPEED\nNodeGuid,SensorIndex,FanSpeed\n0x200000,1,5800\nEND_FANS_SPEED\n"
	}
	date := regexp.MustCompile(`(timestamp *: )\d{4}`)
	for _, c := range []struct {
		source string
		change func(string) string
		want   string
		fails  bool
	}{
		{"sim:fattree:2,4", hardware, "", false},
		{"sim:fattree:2,2", hardware, "3 of 6 switches in ", false},
		{"sim:fattree:2,4", func(s string) string { return date.ReplaceAllString(hardware(s), "${1}2020") },
			"is not exported: it is of 2020-", false},
		{"sim:fattree:2,4", func(s string) string { return ofOthers(hardware(s)) }, "a folder of another subnet", true},
	} {
		_, run := keeping(t, c.source)
		out, err := run("record start every=100 metrics=0 hardware="+dumpedFolder(t, c.change), false)
		if err != nil {
			out += err.Error()
		}
		if (err != nil) != c.fails || !strings.Contains(out, c.want) ||
			c.want == "" && strings.Contains(out, "warning") {
			t.Errorf("%s: no %q: %v\n%s", c.source, c.want, err, out)
		}
	}
}

// TestHintsQuotePaths: a path with a blank can be copied from a hint.
func TestHintsQuotePaths(t *testing.T) {
	path := filepath.Join(t.TempDir(), "my routes")
	if out, err := on(t, "sim:fattree:2,4", "route; dump routing '"+path+"'"); err != nil {
		t.Fatal(err, out)
	}
	out, err := on(t, "sim:fattree:2,8", "route; compare engines with='"+path+"'")
	if err == nil || !strings.Contains(err.Error(), "load routing '"+path+"'; ") {
		t.Errorf("%v\n%s", err, out)
	}
}
