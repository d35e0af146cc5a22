package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Backup writes a copy of the database at path to a new file, to, as it is at one
// moment between two writes. Others may write meanwhile; what they commit after that
// moment is not in the copy. The copy has the schema of the database, whatever this
// program knows, and no bytes of what was deleted. Until it is complete and on the
// disk its name ends in ".partial". The error wraps [fs.ErrExist] when there is a
// file of either name, and [fs.ErrNotExist] when there is no database at path.
func Backup(ctx context.Context, path, to string) error {
	found, err := inspectFile(ctx, path)
	if err != nil {
		return err
	}
	if !found.there {
		return fmt.Errorf("there is no database to copy: %w", fs.ErrNotExist)
	}
	if _, err := os.Lstat(to); err == nil {
		return fmt.Errorf("%s is there already, and is left alone; choose another path: %w", to, fs.ErrExist)
	}
	// SQLite fills an empty file. It is made here, for the rights of its owner only.
	partial := to + ".partial"
	f, err := os.OpenFile(partial, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already: another copy is being made, or was not finished; then delete it: %w", partial, fs.ErrExist)
	}
	if err != nil {
		return err
	}
	err = copyInto(ctx, path, found, partial)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(partial, to)
	}
	if err != nil {
		return errors.Join(err, os.Remove(partial))
	}
	return syncDir(filepath.Dir(to))
}

// copyInto writes a copy of the database at path into an empty file, and checks
// that it can be read.
func copyInto(ctx context.Context, path string, found inspection, to string) error {
	db, err := connect(path, found, 1, []string{"busy_timeout(10000)", "synchronous(FULL)"})
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, `VACUUM INTO ?`, to); err != nil {
		if resultCode(err) == codeFull {
			return errors.New("the disk is full; make room for a whole copy of the database, or choose another disk")
		}
		return withRemedy(err)
	}
	made, err := inspectAs(ctx, to, immutable)
	if err == nil && made.schema.Stored != found.schema.Stored {
		err = fmt.Errorf("the schema has moved from version %d to %d meanwhile; try again", found.schema.Stored, made.schema.Stored)
	}
	if err != nil {
		return fmt.Errorf("check the copy: %w", err)
	}
	return nil
}

// syncDir writes a folder's entries to the disk.
func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
