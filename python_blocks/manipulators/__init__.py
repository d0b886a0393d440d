"""Arms of rigid links, joint by joint, and motors that stand for their joints."""
