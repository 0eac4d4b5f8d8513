// SPDX-License-Identifier: Apache-2.0

package files

import (
	"errors"
	"fmt"
	"io/fs"

	"example.org/ibconsole/internal/base/plain"
)

// Kind describes the expected kind of a file, with its maximum size.
type Kind struct {
	Name    string
	Most    int64
	regular bool
}

const (
	mb = 1 << 20
	gb = 1 << 30
)

// The kinds of files. Sizes that depend on the subnet are those of the largest subnet: 48 K unicast LIDs, on hosts and
// 3,000 switches.
var (
	// Topology has at most about 300 bytes per port, for 48 K hosts and 3,000 switches with 254 ports each.
	Topology = Kind{Name: "a topology", Most: 256 * mb}
	// Snapshot limits the compressed file. Package snapshot limits its decompressed size.
	Snapshot = Kind{Name: "a snapshot", Most: 1 * gb}
	// Tables is a file of 3,000 forwarding tables, each with 48 K lines of about 90 bytes, or of SL2VL tables of the
	// same number of ports.
	Tables = Kind{Name: "a file of tables", Most: 16 * gb}
	// Archive is an archive of a folder of tables, compressed or not. It has two files of tables, and captures.
	Archive = Kind{Name: "an archive", Most: 40 * gb}
	// Entries is a file with the SLs of paths or with multicast tables. It is read line by line.
	Entries = Kind{Name: "a file of SLs or multicast tables", Most: 512 * mb}
	// Matrix is a file that is kept in memory until an engine needs it.
	Matrix = Kind{Name: "a lid matrix", Most: 1536 * mb}
	// Groups is a list of multicast groups with all their members.
	Groups = Kind{Name: "a list of groups", Most: 256 * mb}
	// Report is the report of one shard of the command resilience.
	Report = Kind{Name: "a report", Most: 128 * mb}
	// Paths is a path database, limited to the size that its references can address.
	Paths = Kind{Name: "a path database", Most: 256 * mb}
	// Delta is a difference of path databases.
	Delta = Kind{Name: "a difference of path databases", Most: 256 * mb}
	// Traces is a file with about 160 bytes for each path. It is read line by line and takes about 60 bytes in memory.
	Traces = Kind{Name: "a file of traces", Most: 2 * gb}
	// History is the export of a history.
	History = Kind{Name: "a history", Most: 16 * gb}
	// List is a file with one line per port or LID, such as GUIDs, names, LIDs, hosts or pairs.
	List = Kind{Name: "a list", Most: 32 * mb}
	// Script is a file of commands.
	Script = Kind{Name: "a script", Most: 16 * mb}
	// Config is a file of settings.
	Config = Kind{Name: "a configuration", Most: 4 * mb}
	// State is a small file of the state folder.
	State = Kind{Name: "a file of the state folder", Most: 4 * mb}
	// Keys is a file with an M_Key.
	Keys = Kind{Name: "a file of keys", Most: 4 * mb}
)

// Regular returns the kind without pipes.
func (k Kind) Regular() Kind {
	k.regular = true
	return k
}

// ErrTooLarge reports that a file exceeds the maximum size for its [Kind].
var ErrTooLarge = errors.New("too large")

func (k Kind) tooLarge() error {
	return fmt.Errorf("%w: more than %d MB, the limit of %s", ErrTooLarge, k.Most/mb, k.Name)
}

func (k Kind) notRegular(path string) error {
	return fmt.Errorf("%s: not a regular file, which %s must be", plain.Escape(path), k.Name)
}

// check returns an error unless the path is a regular file within the maximum size, or a pipe.
func (k Kind) check(path string, info fs.FileInfo) error {
	name, mode := plain.Escape(path), info.Mode()
	switch {
	case mode.IsDir():
		return fmt.Errorf("%s: a folder, expected a file", name)
	case mode.IsRegular():
		if info.Size() > k.Most {
			return fmt.Errorf("%s: %w", name, k.tooLarge())
		}
		return nil
	case k.regular:
		return k.notRegular(path)
	case mode&fs.ModeNamedPipe != 0:
		return nil
	}
	return fmt.Errorf("%s: neither a file nor a pipe", name)
}
