// SPDX-License-Identifier: Apache-2.0

package settings_test

import (
	"os"
	"path/filepath"
	"testing"

	"example.org/ibconsole/shell/session/settings"
)

// FuzzReadConf reads settings of engines from a file in the format of opensm.conf.
func FuzzReadConf(f *testing.F) {
	f.Add("routing_engine ftree,updn\nport_shifting TRUE\nscatter_ports 3\nlmc 2\nqos TRUE\n")
	f.Add("routing_engine torus-2QoS\ntorus_config /nothing\nroot_guid_file /nothing\nuse_ucast_cache maybe\n")
	f.Fuzz(func(t *testing.T, text string) {
		file := filepath.Join(t.TempDir(), "opensm.conf")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _ = settings.ReadConf(t.Context(), file, settings.Around{}, nil, nil)
	})
}
