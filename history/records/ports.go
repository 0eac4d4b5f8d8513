// SPDX-License-Identifier: Apache-2.0

package records

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"example.org/ibconsole/fabric/counters"
)

// ports holds the ports of a subnet that have been loaded, in the order of their numbers. Ports are appended to the
// lists, but existing elements do not change.
type ports struct {
	id    int64 // the subnet's, 0 before it has one
	keys  []counters.Key
	names []string
	nth   map[counters.Key]int
}

// loadPorts loads ports of a subnet that were added to the file since the last call. The caller must hold s.mu.
func (s *Store) loadPorts(ctx context.Context, from querier, subnet string) (*ports, error) {
	p := s.ports[subnet]
	if p == nil {
		p = &ports{nth: map[counters.Key]int{}}
	}
	if p.id == 0 {
		err := from.QueryRowContext(ctx, "SELECT id FROM subnet WHERE name = ?", subnet).Scan(&p.id)
		if errors.Is(err, sql.ErrNoRows) {
			return p, nil
		}
		if err != nil {
			return nil, err
		}
		s.ports[subnet] = p
	}
	rows, err := from.QueryContext(ctx, "SELECT guid, num, name FROM port WHERE subnet = ? AND nth >= ? ORDER BY nth",
		p.id, len(p.keys))
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var guid int64
		var num uint8
		var name string
		if err := rows.Scan(&guid, &num, &name); err != nil {
			return nil, err
		}
		p.add(counters.Key{GUID: uint64(guid), Num: num}, name)
	}
	return p, rows.Err()
}

func (p *ports) add(k counters.Key, name string) {
	p.nth[k] = len(p.keys)
	p.keys = append(p.keys, k)
	p.names = append(p.names, name)
}

// assignNumbers gives numbers to new ports and updates changed names. After an error p differs from the file and must
// be discarded.
func (p *ports) assignNumbers(ctx context.Context, tx *sql.Tx, subnet string, samples []Sample) error {
	if p.id == 0 {
		var err error
		if p.id, err = addSubnet(ctx, tx, subnet); err != nil {
			return err
		}
	}
	var insert *sql.Stmt
	renamed := false
	for i := range samples {
		x := &samples[i]
		nth, there := p.nth[x.Key]
		if there && p.names[nth] == x.Name {
			continue
		}
		if insert == nil {
			var err error
			if insert, err = tx.PrepareContext(ctx, "INSERT OR REPLACE INTO port VALUES (?, ?, ?, ?, ?)"); err != nil {
				return err
			}
			defer func() { _ = insert.Close() }()
		}
		if there {
			if !renamed { // other goroutines read the old list
				p.names, renamed = slices.Clone(p.names), true
			}
			p.names[nth] = x.Name
		} else {
			nth = len(p.keys)
			p.add(x.Key, x.Name)
		}
		if _, err := insert.ExecContext(ctx, p.id, nth, int64(x.Key.GUID), x.Key.Num, x.Name); err != nil {
			return err
		}
	}
	return nil
}

// addSubnet returns the number of a subnet, and adds the subnet if the file does not have it.
func addSubnet(ctx context.Context, tx *sql.Tx, subnet string) (int64, error) {
	if _, err := tx.ExecContext(ctx, "INSERT OR IGNORE INTO subnet (name) VALUES (?)", subnet); err != nil {
		return 0, err
	}
	return subnetID(ctx, tx, subnet)
}

// subnetID returns the number of a subnet, or [sql.ErrNoRows].
func subnetID(ctx context.Context, from querier, subnet string) (id int64, err error) {
	err = from.QueryRowContext(ctx, "SELECT id FROM subnet WHERE name = ?", subnet).Scan(&id)
	return id, err
}

// find returns the ports of a subnet without the map of their numbers.
func (s *Store) find(ctx context.Context, from querier, subnet string) (ports, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := s.loadPorts(ctx, from, subnet)
	if err != nil {
		return ports{}, err
	}
	return ports{id: p.id, keys: p.keys, names: p.names}, nil
}

// numberOf returns the ID of the subnet, and the number and name of a port.
func (s *Store) numberOf(ctx context.Context, from querier, subnet string, k counters.Key) (id int64, number int,
	name string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := s.loadPorts(ctx, from, subnet)
	if err != nil {
		return 0, 0, "", err
	}
	number, there := p.nth[k]
	if !there {
		return 0, 0, "", ErrNoPort
	}
	return p.id, number, p.names[number], nil
}
