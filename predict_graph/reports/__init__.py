"""How results reach people and programs: tables, JSON, progress."""
