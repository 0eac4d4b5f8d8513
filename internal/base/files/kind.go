// SPDX-License-Identifier: Apache-2.0

package files

import (
	"errors"
	"fmt"
	"io/fs"

	"example.org/ibconsole/internal/base/plain"
)

// Kind is what a file is to be, and the size above which it is refused.
type Kind struct {
	Name    string
	Most    int64
	regular bool
}

const (
	mb = 1 << 20
	gb = 1 << 30
)

// The kinds of files. Where a size follows from the subnet it is that of the largest there can be: the 48 K unicast
// LIDs, on hosts and 3,000 switches.
var (
	// Topology has at most some 300 bytes a port: of 48 K hosts, and of 3,000 switches with 254 ports.
	Topology = Kind{Name: "a topology", Most: 256 * mb}
	// Snapshot bounds the packed file; package snapshot bounds what it unfolds to.
	Snapshot = Kind{Name: "a snapshot", Most: 1 * gb}
	// Tables are 3,000 tables of 48 K lines of some 90 bytes, or SL2VL tables of as many ports.
	Tables = Kind{Name: "a file of tables", Most: 16 * gb}
	// Archive is one of a folder of tables, packed or not: two files of tables, and captures beside them.
	Archive = Kind{Name: "an archive", Most: 40 * gb}
	// Entries are SLs of paths or multicast tables, kept line by line while they are read.
	Entries = Kind{Name: "a file of SLs or multicast tables", Most: 512 * mb}
	// Matrix is kept as it is until an engine wants it.
	Matrix = Kind{Name: "a lid matrix", Most: 1536 * mb}
	// Groups are multicast groups with all their members.
	Groups = Kind{Name: "a list of groups", Most: 256 * mb}
	// Report is that of a shard of resilience.
	Report = Kind{Name: "a report", Most: 128 * mb}
	// Paths is how far the references of a path database reach.
	Paths = Kind{Name: "a path database", Most: 256 * mb}
	// Delta is a difference of path databases.
	Delta = Kind{Name: "a difference of path databases", Most: 256 * mb}
	// History is the export of a history.
	History = Kind{Name: "a history", Most: 16 * gb}
	// List has a line for a port or a LID: GUIDs, names, LIDs, hosts, pairs.
	List = Kind{Name: "a list", Most: 32 * mb}
	// Script is a file of commands.
	Script = Kind{Name: "a script", Most: 16 * mb}
	// Config is a file of settings.
	Config = Kind{Name: "a configuration", Most: 4 * mb}
	// Keys is a file with an M_Key.
	Keys = Kind{Name: "a file of keys", Most: 4 * mb}
)

// Regular returns the kind without pipes.
func (k Kind) Regular() Kind {
	k.regular = true
	return k
}

// ErrTooLarge says that a file is larger than one of its kind may be.
var ErrTooLarge = errors.New("too large")

func (k Kind) tooLarge() error {
	return fmt.Errorf("%w: more than %d MB, the limit of %s", ErrTooLarge, k.Most/mb, k.Name)
}

// takes refuses what is neither a file nor a pipe, and what is too large.
func (k Kind) takes(path string, info fs.FileInfo) error {
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
		return fmt.Errorf("%s: no regular file, which %s has to be", name, k.Name)
	case mode&fs.ModeNamedPipe != 0:
		return nil
	}
	return fmt.Errorf("%s: neither a file nor a pipe", name)
}
