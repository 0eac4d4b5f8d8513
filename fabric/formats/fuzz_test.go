// SPDX-License-Identifier: Apache-2.0

package formats_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ibconsole/fabric/formats"
)

// FuzzRead reads a file whose format the program recognizes by its first lines. Errors name the file.
func FuzzRead(f *testing.F) {
	f.Add("vendid=0x2c9\ndevid=0xc738\nsysimgguid=0x200000\nswitchguid=0x200000(200000)\n" +
		"Switch\t4 \"S-0000000000200000\"\t\t# \"leaf\" enhanced port 0 lid 1 lmc 0\n" +
		"[1]\t\"H-0000000000100000\"[1](100001) \t\t# \"node\" lid 2 4xNDR\n")
	f.Add("Hca\t1 \"H1\"\n[1] \"S1\"[1]\nSwitch\t8 \"S1\"\n[1] \"H1\"[1]\n")
	f.Add("START_NODES\nNodeDesc,NumPorts,NodeType\nEND_NODES\n")
	f.Add("# comment\n{\"version\": 1}\n")
	f.Add("IBCONSOLE")
	f.Fuzz(func(t *testing.T, text string) {
		file := filepath.Join(t.TempDir(), "net")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := formats.Read(t.Context(), file)
		if err != nil && !strings.Contains(err.Error(), file) || err == nil && s.Fabric == nil {
			t.Errorf("%v, %v", s.Fabric, err)
		}
	})
}
